package rig

import "syscall"

// OwnMachine are the attributes of a process that has processes, mounts and a name of its own, as a machine has.
func OwnMachine() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS}
}
