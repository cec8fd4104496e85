package rig

import "syscall"

// OwnMachine are the attributes of any process: macOS has no namespaces.
func OwnMachine() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
