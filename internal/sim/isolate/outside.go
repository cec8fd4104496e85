package isolate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Four processes, each started by the one before it, bring a program inside:
//
//	outside  waits, and ends with the program's exit code
//	orphan   is in the new namespace, starts the relay and ends
//	relay    has init for a parent once the orphan has ended, so that nothing inside is a descendant of the
//	         caller of the outside, such as a claude in whose shell somebody runs the tests
//	inside   raises loopback and becomes the program
//
// On one pipe the relay writes its pid, its namespace and, at last, the program's exit code. From another it reads the
// word to begin, and then the end of file, which means that the outside has ended.

// outside runs this program again, as args, in a new namespace and returns its exit code.
func outside(args []string) int {
	said, hold, err := startOrphan(args)
	if err != nil {
		return failed(err)
	}
	defer hold.Close()
	reader := bufio.NewReader(said)
	pid, err := number(reader)
	if err != nil {
		return failed(fmt.Errorf("nothing runs inside: %w", err))
	}
	netns, err := theirNamespace(reader)
	if err != nil {
		return failed(err)
	}
	code := listen(reader, pid, hold)
	sweep(netns)
	return code
}

// startOrphan starts the relay and returns the outside's ends of the two pipes.
func startOrphan(args []string) (said, hold *os.File, err error) {
	said, saying, err1 := os.Pipe()
	held, hold, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	cmd := again(args, stageOrphan)
	cmd.SysProcAttr = ownNetwork()
	cmd.ExtraFiles = []*os.File{saying, held}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start in a new network namespace: %w (root, or unprivileged user namespaces, is needed)", err)
	}
	if err := errors.Join(saying.Close(), held.Close(), cmd.Wait()); err != nil {
		return nil, nil, fmt.Errorf("start inside: %w", err)
	}
	return said, hold, nil
}

// theirNamespace reads the relay's network namespace. The relay writes it itself, because a process that is looked up
// in /proc may have ended.
func theirNamespace(said *bufio.Reader) (string, error) {
	line, err := said.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("nothing runs inside: %w", err)
	}
	own, err := ownNamespace()
	if theirs := strings.TrimSuffix(line, "\n"); err != nil || theirs != own {
		return theirs, err
	}
	return "", errors.New("what runs inside is not in a network namespace of its own")
}

// listen has the relay start the program, passes signals on to the relay, and returns the exit code that the relay
// writes.
func listen(said *bufio.Reader, pid int, hold *os.File) int {
	relay, err := os.FindProcess(pid)
	if err != nil {
		return failed(err)
	}
	stop := forward(relay)
	defer stop()
	if _, err := hold.Write(begin); err != nil {
		return failed(fmt.Errorf("nothing runs inside: %w", err))
	}
	code, err := number(said)
	if err != nil {
		return failed(errors.New("what ran inside was killed"))
	}
	_, _ = io.Copy(io.Discard, said) // until the relay has ended
	return code
}

func number(said *bufio.Reader) (int, error) {
	line, err := said.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSuffix(line, "\n"))
}

// The descriptors of the pipes, for orphan and relay.
const (
	sayFD  = 3
	holdFD = 4
)

// begin is the word at which the relay starts the program: the orphan has ended by then, and signals
// are passed on.
var begin = []byte{'\n'}

// orphan starts the relay, without the variables that a claude sets for the shells of its tools.
func orphan(args []string) int {
	cmd := again(args, stageRelay)
	cmd.Env = withoutClaude(cmd.Env)
	cmd.ExtraFiles = []*os.File{os.NewFile(sayFD, "say"), os.NewFile(holdFD, "hold")}
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	return 0
}

func withoutClaude(env []string) []string {
	var rest []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "CLAUDECODE=") && !strings.HasPrefix(entry, "CLAUDE_CODE_") {
			rest = append(rest, entry)
		}
	}
	return rest
}

// relay runs the program, kills what the program has left in the namespace, and writes the exit code. It does not leave
// that to the outside: when the outside is killed, the kernel may close its end of the second pipe some time before
// that of the first, so that the exit code is written and nobody reads it.
func relay(args []string) int {
	say, hold := os.NewFile(sayFD, "say"), os.NewFile(holdFD, "hold")
	unix.CloseOnExec(sayFD)
	unix.CloseOnExec(holdFD)
	netns, err := ownNamespace()
	if err == nil {
		_, err = fmt.Fprintf(say, "%d\n%s\n", os.Getpid(), netns)
	}
	if err != nil {
		return failed(err)
	}
	if _, err := io.ReadFull(hold, make([]byte, len(begin))); err != nil {
		return failed(fmt.Errorf("the outside has gone: %w", err))
	}
	cmd := again(args, stageInside)
	if err := cmd.Start(); err != nil {
		_, _ = fmt.Fprintln(say, failed(err))
		return codeFailed
	}
	stop := forward(cmd.Process)
	defer stop()
	go func() {
		_, _ = hold.Read(make([]byte, 1)) // no byte follows: Read returns when the outside has ended
		_ = cmd.Process.Kill()
	}()
	code := exitCode(cmd.Wait())
	sweep(netns)
	if _, err := fmt.Fprintln(say, code); err != nil {
		return failed(err)
	}
	return 0
}

// again is this program at another stage: same program, same streams.
func again(args []string, stage string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Env = append(os.Environ(), marker+"="+stage)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// forward passes signals on to a process until stop is called.
func forward(to *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			_ = to.Signal(s)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// exitCode is the shell's: 128+n for a death by signal n.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return failed(err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}
