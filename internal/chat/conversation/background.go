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

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Context stays in the conversation for good, so it is bounded.
const (
	contextLimit   = 16 << 10 // bytes
	contextTimeout = 10 * time.Second

	transcribeTimeout = 2 * time.Minute
)

// background returns the output of the user's context program, for example the time or the place, up to a limit. The
// hook passes it to Claude, apart from the user's text. If the program fails, the turn runs without context, and the
// answer says so.
func (j *job) background(ctx context.Context, limit int) string {
	if j.ask.ContextCmd == "" {
		return ""
	}
	p := program{
		path: j.ask.ContextCmd, dir: j.state.Meta.Cwd, env: append(slices.Clone(j.Project.Env), "NBS_CONVERSATION="+string(j.state.Meta.Key)),
		timeout: contextTimeout, limit: limit,
	}
	out, cut, err := p.output(ctx)
	if err != nil {
		j.notices = append(j.notices, fmt.Sprintf("It was answered without context: %s: %s.", human.Quote(p.path), err))
		return ""
	}
	if cut {
		j.notices = append(j.notices, fmt.Sprintf("Its context was cut after %s.", human.Bytes(uint64(limit)))) //nolint:gosec // it is not negative
	}
	return out
}

// Transcribe returns what is said in a recording: the output of the user's program, which gets the file's path. Errors:
// Failed.
func (e *Engine) Transcribe(ctx context.Context, path, recording string) (string, error) {
	p := program{
		path: path, args: []string{recording}, dir: e.Project.Store.Project(), env: slices.Clone(e.Project.Env),
		timeout: transcribeTimeout, limit: contextLimit,
	}
	text, cut, err := p.output(ctx)
	if err == nil && cut {
		err = fmt.Errorf("it printed more than %s", human.Bytes(contextLimit))
	}
	if err != nil && ctx.Err() == nil {
		err = fail.Errorf(fail.Failed, "%s: %w", human.Quote(path), err)
	}
	return text, err
}

// program is one of the user's own programs. It runs without a shell.
type program struct {
	path, dir string
	args, env []string
	timeout   time.Duration
	limit     int // bytes of what it prints
}

// output runs a program, and returns the beginning of what it prints.
func (p *program) output(ctx context.Context) (text string, cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	out := &limited{limit: p.limit}
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = p.dir, p.env, out, time.Second
	err = cmd.Run()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it did not end within %s", p.timeout)
	}
	return strings.ToValidUTF8(out.text.String(), ""), out.cut, err
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
