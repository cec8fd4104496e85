package launcher

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

const (
	askLimit = 20 * time.Second       // it takes a tenth of one; a machine may be busy
	askDelay = 500 * time.Millisecond // for a pipe that something else has kept
	askBytes = 1 << 20
)

// Ask runs claude with arguments that make it say something and leave, without a terminal,
// and returns what it printed on stdout.
func Ask(ctx context.Context, program string, args, env []string, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
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
