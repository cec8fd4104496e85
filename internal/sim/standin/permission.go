package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// decision is what a PermissionRequest hook decides.
type decision struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message"`
}

// permit asks a person and the hooks of PermissionRequest at the same time. Who answers first decides. It is called by
// the turn, in its goroutine.
func (u *tui) permit(ctx context.Context, tool, command string) bool {
	hooks, endHooks := context.WithCancel(context.WithoutCancel(ctx))
	decided := make(chan decision, 1)
	go func() {
		defer endHooks()
		u.s.askHooks(hooks, tool, command, decided)
	}()
	asked := event{command: command, answer: make(chan bool, 1)}
	select {
	case u.events <- asked:
	case <-ctx.Done():
		endHooks()
		return false
	}
	select {
	case yes := <-asked.answer:
		if !yes { // an interrupt ends the hooks; after a permission they go on
			endHooks()
		}
		return yes
	case <-ctx.Done():
		endHooks()
		return false
	case d := <-decided:
		u.events <- event{settled: asked.answer}
		u.s.denial = d.Message
		return d.Behavior == "allow"
	}
}

// askHooks runs the hooks of PermissionRequest, each until it ends, its timeout passes or the context ends. Then its
// process group gets SIGTERM. A hook that decides nothing, or fails, leaves the dialog.
func (s *session) askHooks(ctx context.Context, tool, command string, decided chan<- decision) {
	const usual = 600 // seconds
	input, err := json.Marshal(map[string]any{
		"session_id": s.id, "transcript_path": s.tr.path, "cwd": s.cwd, "hook_event_name": "PermissionRequest", "permission_mode": s.mode(),
		"tool_name": tool, "tool_input": map[string]string{"command": command},
		"permission_suggestions": []any{map[string]any{"type": "addDirectories", "directories": []string{s.cwd}, "destination": "session"}},
	})
	if err != nil || s.whims.noHooks {
		return
	}
	for _, group := range s.settings.Hooks["PermissionRequest"] {
		for _, h := range group.Hooks {
			timeout := h.Timeout
			if timeout == 0 {
				timeout = usual
			}
			ctx, cancel := context.WithTimeout(ctx, time.Duration(timeout)*time.Second)
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.Command)
			cmd.Stdin, cmd.Env = bytes.NewReader(input), append(os.Environ(), s.childEnv()...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
			out, err := cmd.Output()
			cancel()
			var said struct {
				Output struct{ Decision decision } `json:"hookSpecificOutput"`
			}
			if err == nil && json.Unmarshal(out, &said) == nil && said.Output.Decision.Behavior != "" {
				decided <- said.Output.Decision
				return
			}
		}
	}
}
