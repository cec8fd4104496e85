package conversation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/human"
)

// Context stays in the conversation for good, so it is bounded.
const (
	contextLimit   = 16 << 10 // bytes
	contextTimeout = 10 * time.Second
)

// background returns the output of the user's context program, for example the time or the place, up to a limit. The
// hook passes it to Claude, apart from the user's text. If the program fails, the turn runs without context, and the
// answer says so.
func (j *job) background(ctx context.Context, limit int) string {
	if j.ask.ContextCmd == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, contextTimeout)
	defer cancel()
	out := &limited{limit: limit}
	cmd := exec.CommandContext(ctx, j.ask.ContextCmd) // the user's own program, without a shell
	cmd.Dir, cmd.Stdout, cmd.WaitDelay = j.state.Meta.Cwd, out, time.Second
	cmd.Env = append(slices.Clone(j.Project.Env), "NBS_CONVERSATION="+string(j.state.Meta.Key))
	if err := cmd.Run(); err != nil {
		j.notices = append(j.notices, fmt.Sprintf("It was answered without context: %s: %s.", human.Quote(j.ask.ContextCmd), reasonOf(ctx, err)))
		return ""
	}
	if out.cut {
		j.notices = append(j.notices, fmt.Sprintf("Its context was cut after %s.", human.Bytes(uint64(limit))))
	}
	return strings.ToValidUTF8(out.text.String(), "")
}

func reasonOf(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("it did not end within %s", contextTimeout)
	}
	return err.Error()
}

// limited keeps the first bytes. The buffer is not embedded: io.Copy would call its ReadFrom instead of Write.
type limited struct {
	text  bytes.Buffer
	limit int
	cut   bool
}

func (l *limited) Write(p []byte) (int, error) {
	kept := p[:min(len(p), l.limit-l.text.Len())]
	l.cut = l.cut || len(kept) < len(p)
	l.text.Write(kept)
	return len(p), nil
}
