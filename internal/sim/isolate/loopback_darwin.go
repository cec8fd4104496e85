package isolate

import (
	"errors"
	"syscall"
)

// There are no network namespaces on macOS: nothing runs isolated there.

func raiseLoopback() error { return errors.ErrUnsupported }

func dropAmbient() error { return errors.ErrUnsupported }

func ownNetwork() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
