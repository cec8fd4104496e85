package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
)

// headless is the front of -p: nobody can be asked.
type headless struct{}

func (headless) permit(context.Context, string, string) bool { return false }
func (headless) retrying(apiError, int, int)                 {}

// print is one turn without a terminal (-p).
func (s *session) print(ctx context.Context) (int, error) {
	if err := s.attach("sdk-cli", false); err != nil {
		return 1, err
	}
	prompt := s.opts.prompt
	if piped := readPiped(ctx); piped != "" {
		prompt = strings.TrimPrefix(prompt+"\n"+piped, "\n")
	}
	if strings.TrimSpace(prompt) == "" {
		return 1, usageError("Error: Input must be provided either through stdin or as a prompt argument when using --print")
	}
	if err := s.reg.register(); err != nil {
		return 1, err
	}
	defer s.reg.remove()
	s.told = s.hook(ctx, startHook, map[string]any{"source": s.source()})
	begin := time.Now()
	r, err := s.turn(ctx, said{text: strings.TrimSpace(prompt), hook: true}, headless{})
	if ctx.Err() != nil {
		return s.printCutShort(ctx)
	}
	if err != nil {
		return 1, err
	}
	s.hookStop(ctx, r)
	s.hook(ctx, "SessionEnd", map[string]any{"reason": "other"})
	return s.printResult(r, time.Since(begin))
}

// readPiped returns what stdin holds when it is a pipe or a file. A silent pipe is given up after 3 s, as the real
// program does.
func readPiped(ctx context.Context) string {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return ""
	}
	read := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(os.Stdin) // what can be read is the prompt
		read <- string(data)
	}()
	timer := time.NewTimer(3 * time.Second)
	defer timer.Stop()
	select {
	case text := <-read:
		return text
	case <-timer.C:
	case <-ctx.Done():
	}
	return ""
}

func (s *session) printResult(r result, took time.Duration) (int, error) {
	code := 0
	if r.failed != nil {
		code = 1
	}
	if s.opts.outputFormat != "json" {
		fmt.Println(r.text)
		return code, nil
	}
	return code, writeObject(s.turnResult(r, took))
}

// turnResult is the result object of a turn.
func (s *session) turnResult(r result, took time.Duration) map[string]any {
	out := s.resultObject("success", r.text, r.failed != nil)
	out["duration_ms"], out["duration_api_ms"] = took.Milliseconds(), took.Milliseconds()
	out["usage"], out["permission_denials"] = r.usage, s.denied
	out["stop_reason"] = "end_turn"
	if r.failed != nil && r.failed.status != 0 {
		out["api_error_status"], out["api_error_type"] = r.failed.status, r.failed.kind
	}
	return out
}

// printCutShort is the end by a signal: silent, except for an interrupt, which yields a result and code 0.
func (s *session) printCutShort(ctx context.Context) (int, error) {
	end := endOf(ctx)
	s.whims.linger(ctx)
	tells := s.opts.outputFormat == "json" || s.opts.outputFormat == streamJSON && !s.whims.old()
	if end.code != 0 || !tells {
		return end.code, nil
	}
	return 0, writeObject(s.resultObject("error_during_execution", "", true))
}

func (s *session) resultObject(subtype, text string, isError bool) map[string]any {
	return map[string]any{
		"type": "result", "subtype": subtype, "is_error": isError, "api_error_status": nil, "num_turns": 1,
		"result": text, "session_id": s.id, "total_cost_usd": 0, "permission_denials": []any{},
		"modelUsage": map[string]any{s.model: map[string]int{"contextWindow": 1000000}}, "uuid": uuid.NewString(),
	}
}

func writeObject(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	_, err = fmt.Println(string(data))
	return err
}

// source is how the conversation came to be, in the words of the SessionStart hook.
func (s *session) source() string {
	if s.opts.resume != "" {
		return "resume"
	}
	return "startup"
}
