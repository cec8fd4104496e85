package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// limit is one limit of the account, in the status line's form.
type limit struct {
	Used     float64 `json:"used_percentage"`
	ResetsAt int64   `json:"resets_at"` // seconds since 1970
}

// limitsIn reads the limits of the account from the headers of a reply.
func limitsIn(header http.Header) map[string]limit {
	limits := map[string]limit{}
	for name, short := range map[string]string{"five_hour": "5h", "seven_day": "7d"} {
		prefix := "Anthropic-Ratelimit-Unified-" + short
		used, err := strconv.ParseFloat(header.Get(prefix+"-Utilization"), 64)
		reset, wrong := strconv.ParseInt(header.Get(prefix+"-Reset"), 10, 64)
		if err == nil && wrong == nil {
			limits[name] = limit{used * 100, reset}
		}
	}
	return limits
}

// callStatusLine calls the command of the status line at the end of a turn, if the last reply told the account's
// limits. The rest of what the real program passes is not imitated, nor is what the command prints.
func (s *session) callStatusLine(ctx context.Context) {
	if s.opts.print || !s.subscribes() || s.settings.StatusLine.Command == "" || len(s.limits) == 0 {
		return
	}
	input, err := json.Marshal(map[string]any{
		"session_id": s.id, "transcript_path": s.tr.path, "cwd": s.cwd, "model": map[string]string{"id": s.model},
		"version": s.whims.version, "rate_limits": s.limits,
	})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", s.settings.StatusLine.Command)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = append(os.Environ(), s.childEnv()...)
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // the real program ignores its failure too
}
