package standin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const hangup = syscall.SIGHUP

// tui is the program at its prompt. One goroutine owns all of it; a running turn reports through events.
type tui struct {
	s      *session
	term   *terminal
	events chan event
	line
	said     []string // what stands above the prompt
	queue    []string // typed while busy
	working  string
	cancel   context.CancelFunc // of the running turn; nil when idle
	asking   *event             // the open permission dialog
	lastQuit keyKind            // C-c or C-d once: a second one leaves
}

// event is what a turn reports to the tui.
type event struct {
	done    *result
	err     error
	working string
	command string    // asks for permission
	answer  chan bool // for command
	settled chan bool // the answer channel of a dialog that a hook has answered
}

// interactive runs the program on its terminal until it ends, and returns the exit code.
func (s *session) interactive(ctx context.Context) (int, error) {
	if !s.cfg.onboarded() && s.whims.dialog == "" {
		return unreachable(ctx)
	}
	t, err := openTerminal()
	if err != nil {
		return 1, err
	}
	defer t.close()
	forget := amnesia(ctx)
	if !forget && !s.whims.noRegistry && !s.whims.old() {
		if s.keyFile, err = writeKey(s.cfg.dir); err != nil {
			return 1, err
		}
	}
	if s.opts.resume != "" && !uuidShape.MatchString(s.opts.resume) {
		_, err := s.show(ctx, t, s.dialog("picker"))
		return s.left(ctx, err)
	}
	if err := s.firstRun(ctx, t); err != nil {
		return s.left(ctx, err)
	}
	if err := s.attach("cli", forget); err != nil {
		s.forgetKey()
		return 1, err
	}
	if err := s.reg.register(); err != nil {
		return 1, err
	}
	u := &tui{s: s, term: t, events: make(chan event)}
	return u.live(ctx)
}

// unreachable is all that the onboarding shows where there is no network, because it asks the real service first.
func unreachable(ctx context.Context) (int, error) {
	fmt.Println(" Unable to connect to Anthropic services\n\n Failed to connect to api.anthropic.com: EAI_AGAIN\n\n" +
		" Check your internet connection and network settings.")
	if ctx.Err() != nil {
		return endOf(ctx).code, nil //nolint:nilerr // a signal is an end, not a fault
	}
	return 1, nil
}

// left ends the program before the prompt, by an answer, a signal or a fault, and returns the exit code.
func (s *session) left(ctx context.Context, err error) (int, error) {
	var end ending
	defer s.forgetKey()
	switch {
	case ctx.Err() != nil:
		end = endOf(ctx)
		s.whims.linger(ctx)
	case errors.As(err, &end):
	case errors.Is(err, errLeft):
		end.code = 1
	default:
		return 1, err
	}
	return end.code, nil
}

// live runs the program at its prompt until it ends, and returns the exit code.
func (u *tui) live(ctx context.Context) (int, error) {
	u.term.title("✳ " + cmp.Or(u.s.opts.name, "Claude Code"))
	u.s.told = u.s.hook(ctx, startHook, map[string]any{"source": u.s.source(), "model": u.s.model})
	u.recall()
	if u.s.whims.drawDelay == 0 {
		u.redraw() // before it says so, as Claude does
	}
	if err := u.s.reg.setStatus("idle", ""); err != nil {
		return 1, err
	}
	if pause(ctx, u.s.whims.drawDelay) {
		u.redraw()
	}
	end, err := u.start(ctx)
	if err == nil && end == nil {
		end, err = u.loop(ctx)
	}
	if err != nil {
		return 1, err
	}
	return u.finish(ctx, *end), nil
}

// start submits the prompt from the command line. What is a command when it is typed is one there too, except `!`.
func (u *tui) start(ctx context.Context) (*ending, error) {
	if u.s.opts.prompt == "" {
		return nil, nil
	}
	return u.submit(ctx, u.s.opts.prompt)
}

func (u *tui) loop(ctx context.Context) (*ending, error) {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for {
		u.redraw()
		var end *ending
		var err error
		select {
		case <-ctx.Done():
			e := endOf(ctx)
			return &e, nil
		case <-resized:
			pause(ctx, u.s.whims.resizeDelay)
		case k, ok := <-u.term.keys:
			if !ok {
				e := endings[os.Signal(hangup)]
				return &e, nil
			}
			end, err = u.press(ctx, k)
		case e := <-u.events:
			err = u.happen(ctx, e)
		}
		if err != nil || end != nil {
			return end, err
		}
	}
}

func (u *tui) redraw() {
	cols, rows := u.term.size()
	draw(cols, rows, u.screen(cols))
	if u.asking == nil {
		u.place(cols, u.footer())
	}
}

// finish cleans up, except after a crash, and returns the exit code.
func (u *tui) finish(ctx context.Context, end ending) int {
	if end.crashed {
		return end.code
	}
	ctx = context.WithoutCancel(ctx)
	if u.cancel != nil {
		u.cancel()
		u.drain()
	}
	u.s.whims.linger(ctx)
	u.s.hook(ctx, "SessionEnd", map[string]any{"reason": end.reason})
	u.s.reg.remove()
	u.s.forgetKey()
	if u.s.turns > 0 {
		fmt.Print("\r\n" + strings.ReplaceAll(u.s.resumeHint(), "\n", "\r\n") + "\r\n")
	}
	return end.code
}

// drain waits until the cancelled turn has written its last line.
func (u *tui) drain() {
	for e := range u.events {
		if e.answer != nil {
			e.answer <- false
		}
		if e.done != nil || e.err != nil {
			return
		}
	}
}
