package launcher

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

const (
	askDelay = 500 * time.Millisecond // for the stdout pipe, which another process may keep open
	askBytes = 1 << 20
)

// Ask runs claude without a terminal, with arguments that make it print something and exit, until the context is done.
// It returns the stdout.
func Ask(ctx context.Context, program string, args, env []string, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, dir, askDelay
	said := &answer{}
	cmd.Stdout = said
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return said.String(), err
}

// answer keeps the beginning of what is written to it.
type answer struct{ strings.Builder }

func (a *answer) Write(text []byte) (int, error) {
	a.Builder.Write(text[:min(len(text), askBytes-a.Len())])
	return len(text), nil
}
