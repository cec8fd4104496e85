package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"time"
)

// refuses is the exit code with which a hook refuses a prompt. Imitated only where turns come from stdin.
const refuses = 2

// hook runs the commands that the settings name for an event, and returns what they have printed. Like the real program
// it ignores a command that fails. Imitated: SessionStart, UserPromptSubmit, Stop, StopFailure, PermissionRequest,
// SessionEnd.
func (s *session) hook(ctx context.Context, event string, extra map[string]any) (printed string) {
	groups := s.settings.Hooks[event]
	if len(groups) == 0 || s.whims.noHooks {
		return ""
	}
	payload := map[string]any{
		"session_id": s.id, "transcript_path": s.tr.path, "cwd": s.cwd, "hook_event_name": event,
		"permission_mode": s.mode(),
	}
	maps.Copy(payload, extra)
	input, err := json.Marshal(payload)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var all strings.Builder
	for _, group := range groups {
		for _, h := range group.Hooks {
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.Command)
			cmd.Stdin = bytes.NewReader(input)
			cmd.Env = append(os.Environ(), s.childEnv()...)
			cmd.WaitDelay = time.Second
			out, err := cmd.Output()
			if err == nil {
				all.WriteString(strings.TrimSuffix(string(out), "\n"))
			}
			if exit := (*exec.ExitError)(nil); event == promptHook && errors.As(err, &exit) && exit.ExitCode() == refuses {
				s.refused = refusal(h.Command, string(exit.Stderr), fmt.Sprint(extra["prompt"]))
			}
		}
	}
	return all.String()
}

// hookStop runs the hook of the end of a turn: Stop, or StopFailure after an error of the API.
func (s *session) hookStop(ctx context.Context, r result) {
	s.callStatusLine(ctx)
	if r.failed == nil {
		s.hook(ctx, "Stop", map[string]any{"stop_hook_active": false, "last_assistant_message": r.text})
		return
	}
	s.hook(ctx, "StopFailure", map[string]any{"error": r.failed.class(), "last_assistant_message": r.text})
}

// class is the real program's word for an API error.
func (e apiError) class() string {
	switch {
	case e.status == 429:
		return "rate_limit"
	case e.status >= 500:
		return "server_error"
	case e.status == 403, e.status == 401, e.status == 0:
		return "authentication_failed"
	}
	return "unknown"
}
