package standin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// task is a command in the background.
type task struct{ id, use, description string }

// background starts a command that goes on after the turn. Its end is sent to s.ended.
func (s *session) background(ctx context.Context, c content) (output string, isError bool) {
	t := task{"b" + uuid.NewString()[:8], c.ID, c.Input.Description}
	cmd := s.shell(context.WithoutCancel(ctx), c.Input.Command)
	if err := cmd.Start(); err != nil {
		return err.Error(), true
	}
	s.tasks++
	go func() {
		_ = cmd.Wait() // a failed command has ended too
		s.ended <- t
	}()
	started := map[string]any{"subtype": "task_started", "task_id": t.id, "tool_use_id": t.use, "description": t.description, "task_type": "local_bash"}
	if !s.whims.old() {
		started["is_backgrounded"] = true
	}
	if err := s.say("system", started); err != nil {
		return err.Error(), true
	}
	return fmt.Sprintf("Command running in background with ID: %s. You will be notified when it completes.", t.id), false
}

// follow reports the end of a background command, and takes a turn about it, which no user has asked for.
func (s *session) follow(ctx context.Context, t task) (int, error) {
	s.tasks--
	begin := time.Now()
	err := errors.Join(
		s.say("system", map[string]any{"subtype": "task_updated", "task_id": t.id, "patch": map[string]any{"status": "completed", "end_time": begin.UnixMilli()}}),
		s.say("system", map[string]any{"subtype": "task_notification", "task_id": t.id, "tool_use_id": t.use, "status": "completed", "summary": t.description}),
		s.sayInit(),
	)
	if err != nil {
		return 1, err
	}
	text := fmt.Sprintf("<task-notification>\n<task-id>%s</task-id>\n<status>completed</status>\n</task-notification>", t.id)
	r, err := s.turn(ctx, said{text: text, origin: &origin{"task-notification"}}, headless{})
	if ctx.Err() != nil {
		return s.printCutShort(ctx)
	}
	if err != nil {
		return 1, err
	}
	out := s.turnResult(r, time.Since(begin))
	out["origin"] = origin{"task-notification"}
	return 0, errors.Join(s.sayAnswer(r), writeObject(out))
}

// refusal returns the words about a hook that has refused a prompt.
func refusal(hook, reason, prompt string) string {
	return fmt.Sprintf("%s operation blocked by hook:\n[%s]: %s\n\n\nOriginal prompt: %s", promptHook, hook, strings.TrimSpace(reason), prompt)
}

// refuse writes that a hook has refused the prompt. Nothing else of the prompt is kept.
func (s *session) refuse(words, id string) error {
	if err := s.tr.open(s.mode()); err != nil {
		return err
	}
	line := map[string]any{"subtype": "informational", "content": words, "level": "warning", "prevent_continuation": true}
	out := s.resultObject("success", words, false)
	out["num_turns"], out["stop_reason"] = 0, nil
	if !s.whims.old() {
		out["user_message_uuid"] = id
	}
	return errors.Join(s.say("system", line), writeObject(out))
}
