package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
)

// Answer is what a program at a host printed, and how it ended.
type Answer struct {
	Out  []byte
	Said string // the end of its stderr
	Code int
}

// Exit codes of ssh and of shells.
const (
	notRun      = 126 // a program that cannot be run
	notFound    = 127
	sshFailed   = 255
	outLimit    = 8 << 20 // bytes
	afterItsEnd = time.Second
)

// A program at a host has stepLimit, and longer for what is sent to it: a slow network takes slowest bytes a second.
const (
	stepLimit = 2 * time.Minute
	slowest   = 32 << 10
)

// Once runs nbs-worker at a host by a connection of its own, in the home folder there, and waits for its end, for at most
// two minutes. Errors: those of an unreachable host, also if it has no nbs-worker; TimedOut.
func Once(ctx context.Context, h host.Host, words ...string) (Answer, error) {
	answer, err := once(ctx, h, stepLimit, Command(h, words...), nil)
	if err == nil && (answer.Code == notFound || answer.Code == notRun) {
		return Answer{}, unreachableFor(NoProgram, h, answer.Said)
	}
	return answer, err
}

// OncePlain is Once of another program, which may be missing: that is an exit code of 126 or 127. It has longer for a large
// stdin.
func OncePlain(ctx context.Context, h host.Host, stdin []byte, words ...string) (Answer, error) {
	limit := stepLimit + time.Duration(len(stdin)/slowest)*time.Second
	return once(ctx, h, limit, Plain(h, words...), bytes.NewReader(stdin))
}

func once(ctx context.Context, h host.Host, limit time.Duration, argv []string, stdin io.Reader) (Answer, error) {
	ctx, leave := context.WithTimeout(ctx, limit)
	defer leave()
	var out bytes.Buffer
	var said tail
	ssh := exec.CommandContext(ctx, argv[0], argv[1:]...)
	ssh.Stdin, ssh.Stdout, ssh.Stderr = stdin, &limited{&out}, &said
	ssh.WaitDelay = afterItsEnd                           // a child of ssh may keep the pipes open
	ssh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C ends the context, which says so
	err := ssh.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Answer{}, unreachableFor(TimedOut, h, "")
	}
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		if code := exit.ExitCode(); code != sshFailed && code >= 0 {
			return Answer{Out: out.Bytes(), Said: said.String(), Code: code}, nil
		}
		return Answer{}, unreachable(h, said.String())
	}
	if err != nil {
		return Answer{}, noSSH(err)
	}
	return Answer{Out: out.Bytes(), Said: said.String()}, nil
}

// noSSH is the error that ssh could not be run.
func noSSH(err error) error {
	return fail.Errorf(fail.Unfit, "run ssh: %w", err).Hint("install the client of OpenSSH, such as the package openssh-client")
}

// limited refuses more than a host may print.
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(text []byte) (int, error) {
	if l.to.Len()+len(text) > outLimit {
		return 0, errors.New("the host prints too much")
	}
	return l.to.Write(text)
}
