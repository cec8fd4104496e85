package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// marker is the variable that names the stage of a program that was started again. It guards against endless recursion
// and proves nothing.
const marker = "NBS_SIM_ISOLATE_STAGE"

const (
	stageOrphan = "orphan"
	stageRelay  = "relay"
	stageInside = "inside"
)

// started carries out the stage that this start is for; here is true when this process is to run the program itself.
func started(args []string) (code int, here bool) {
	switch os.Getenv(marker) {
	case stageOrphan:
		return orphan(args), false
	case stageRelay:
		return relay(args), false
	case stageInside:
		if err := settle(); err != nil {
			return failed(err), false
		}
		return 0, true
	}
	if Isolated() == nil {
		return 0, true
	}
	return outside(args), false
}

// codeFailed is the exit code when the program could not be run in a namespace. env(1) and nohup(1) exit with 125, too,
// for faults of their own.
const codeFailed = 125

// Main is for TestMain: it runs the tests at once when the process is isolated, and otherwise runs the test binary
// again inside a namespace and returns its exit code.
//
//	func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }
func Main(m interface{ Run() int }) int {
	if code, here := started(os.Args); !here {
		return code
	}
	return m.Run()
}

// Exec replaces this process by the command inside a namespace. self is the argument vector which brings the calling
// program back to this function when it is started again. It returns only an exit code: the command's, or 125.
func Exec(self, command []string) int {
	if len(command) == 0 {
		return failed(errors.New("no command given"))
	}
	if code, here := started(self); !here {
		return code
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return failed(err)
	}
	return failed(syscall.Exec(path, command, os.Environ()))
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "isolate:", err)
	return codeFailed
}

// settle is the first act of a process that was started in the new namespace.
func settle() error {
	if err := os.Unsetenv(marker); err != nil {
		return err
	}
	if err := raiseLoopback(); err != nil {
		return err
	}
	if err := dropAmbient(); err != nil {
		return err
	}
	return Isolated()
}
