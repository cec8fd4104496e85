package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// marker tells the second start of a program from the first. It is a guard against endless recursion, not a proof.
const marker = "NBS_SIM_ISOLATE_STAGE"

// codeFailed is the exit code when the namespace could not be made; that of env(1) and nohup(1) for their own faults.
const codeFailed = 125

// Main is for TestMain: it runs the tests at once when the process is isolated, and otherwise runs the test binary
// again inside a namespace and returns its exit code.
//
//	func TestMain(m *testing.M) { os.Exit(isolate.Main(m)) }
func Main(m interface{ Run() int }) int {
	if Isolated() == nil {
		return m.Run()
	}
	if os.Getenv(marker) == "" {
		return outside(os.Args)
	}
	if err := settle(); err != nil {
		return failed(err)
	}
	return m.Run()
}

// Exec replaces this process by the command inside a namespace. self is the argument vector which brings the calling
// program back to this function when it is started again. It returns only an exit code: the command's, or 125.
func Exec(self, command []string) int {
	if len(command) == 0 {
		return failed(errors.New("no command given"))
	}
	if Isolated() != nil {
		if os.Getenv(marker) == "" {
			return outside(self)
		}
		if err := settle(); err != nil {
			return failed(err)
		}
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
