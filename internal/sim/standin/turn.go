package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// front is what a turn needs of whoever shows it.
type front interface {
	// permit asks the user whether a tool may run.
	permit(ctx context.Context, tool, command string) bool
	// retrying reports that an attempt failed and another follows.
	retrying(e apiError, attempt, of int)
}

// result is the outcome of a turn. failed is set when the API answered with an error, which text then describes.
type result struct {
	text   string
	failed *apiError
	usage  usage
}

// said is a prompt. A TUI has run the prompt's hook before the turn.
type said struct {
	text    string
	content json.RawMessage // "": the text
	origin  *origin         // nil: a user
	uuid    string          // of its record; "": a new one
	hook    bool            // is still to be run
	printed string          // by the hook, if it has run
}

func (p said) message() message {
	if p.content != nil {
		return message{Role: "user", Content: p.content}
	}
	return message{Role: "user", Content: quoted(p.text)}
}

// turn sends the prompt, and carries out what the model asks for until there is an answer.
func (s *session) turn(ctx context.Context, p said, f front) (result, error) {
	s.dieAt("heard")
	s.denied = []any{}
	if err := s.tr.open(s.mode()); err != nil {
		return result{}, err
	}
	err := s.tr.add("user", p.message(), func(r *record) {
		r.PermissionMode, r.PromptSource = s.mode(), "typed"
		r.UUID, r.Origin = cmp.Or(p.uuid, r.UUID), p.origin
	})
	if err != nil {
		return result{}, err
	}
	if err := s.addContext(startHook, s.told); err != nil {
		return result{}, err
	}
	s.told = ""
	if p.hook {
		if err := s.addContext(promptHook, s.hook(ctx, promptHook, map[string]any{"prompt": p.text})); err != nil {
			return result{}, err
		}
	}
	if p.printed != "" {
		if err := s.addContext(promptHook, p.printed); err != nil {
			return result{}, err
		}
	}
	s.turns++
	if !s.loggedIn() {
		return s.fail(apiError{}, "Not logged in · Please run /login")
	}
	return s.converse(ctx, f)
}

func (s *session) converse(ctx context.Context, f front) (result, error) {
	for {
		r, err := s.askAgain(ctx, f.retrying)
		s.dieAt("asked")
		var failed apiError
		if errors.As(err, &failed) {
			return s.fail(failed, failed.text(s.model))
		}
		if err != nil {
			return result{}, err
		}
		if err := s.tr.add("assistant", r.raw, func(rec *record) { rec.RequestID = "req_sim" }); err != nil {
			return result{}, err
		}
		if r.StopReason != "tool_use" {
			s.dieAt("answered")
			return result{text: r.text(), usage: r.Usage}, nil
		}
		if err := s.useTools(ctx, r, f); err != nil {
			return result{}, err
		}
	}
}

func (r reply) text() string {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// text is what the real program shows for an API error.
func (e apiError) text(model string) string {
	switch e.status {
	case 401, 403:
		return fmt.Sprintf("Please run /login · API Error: %d %s", e.status, e.message)
	case 404:
		return fmt.Sprintf("There's an issue with the selected model (%s). It may not exist or you may not have "+
			"access to it. Run /model to pick a different model.", model)
	case 429:
		return "API Error: Request rejected (429) · " + e.message
	case 529:
		return "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. " +
			"Try again in a moment."
	}
	return fmt.Sprintf("API Error: %d %s", e.status, e.message)
}

// fail records an error in the model's place, so that a reader of the transcript sees the turn's end.
func (s *session) fail(e apiError, text string) (result, error) {
	said := map[string]any{
		"role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence", "usage": usage{},
		"content": []map[string]string{{"type": "text", "text": text}},
	}
	err := s.tr.add("assistant", said, func(r *record) {
		r.IsAPIError, r.Error, r.APIErrorStatus = true, e.class(), e.status
	})
	return result{text: text, failed: &e}, err
}

// useTools answers each call for a tool. Only Bash does anything.
func (s *session) useTools(ctx context.Context, r reply, f front) error {
	var results []map[string]any
	for _, c := range r.Content {
		if c.Type != "tool_use" {
			continue
		}
		output, isError := "simulated: only Bash runs", true
		if c.Name == "Bash" {
			output, isError = s.bash(ctx, c, f)
		}
		results = append(results, map[string]any{
			"type": "tool_result", "tool_use_id": c.ID, "content": output, "is_error": isError,
		})
	}
	data, err := json.Marshal(results)
	if err != nil {
		return fmt.Errorf("use tool: %w", err)
	}
	if err := s.tr.add("user", message{Role: "user", Content: data}, func(*record) {}); err != nil {
		return err
	}
	return ctx.Err()
}

// mayRun reports whether a command may run, and notes a refusal.
func (s *session) mayRun(ctx context.Context, command string, f front) bool {
	may := s.mode() == "bypassPermissions" || s.opts.allows(command) || f.permit(ctx, "Bash", command)
	if !may {
		s.denied = append(s.denied, map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	}
	return may
}

// bash runs a command and waits for it.
func (s *session) bash(ctx context.Context, c content, f front) (output string, isError bool) {
	if !s.mayRun(ctx, c.Input.Command, f) {
		if denial := s.denial; denial != "" {
			s.denial = ""
			return denial, true
		}
		return "The user doesn't want to proceed with this tool use.", true
	}
	if c.Input.Background && s.ended != nil {
		return s.background(ctx, c)
	}
	out, err := s.shell(ctx, c.Input.Command).CombinedOutput()
	return string(out), err != nil
}

// shell is a command as the real tool runs it: in a session of its own, with the marks of a child in its environment.
func (s *session) shell(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env = append(os.Environ(), s.childEnv()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its own child and group
	cmd.WaitDelay = time.Second
	return cmd
}

// childEnv is what tools and hooks get on top of the program's own environment.
func (s *session) childEnv() []string {
	return []string{
		"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=" + s.id,
		"CLAUDE_CODE_ENTRYPOINT=" + s.tr.template.Entrypoint, "CLAUDE_PROJECT_DIR=" + s.cwd,
	}
}

func quoted(text string) json.RawMessage {
	data, _ := json.Marshal(text) // a string always marshals
	return data
}
