package boot

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// run prepares the machine, starts its programs and waits for every process that ends there.
func (m Machine) run() error {
	if os.Getpid() != 1 {
		return errors.New("a host is booted by the first process of a pid namespace")
	}
	if err := m.prepare(); err != nil {
		return err
	}
	for _, args := range m.Programs {
		p, err := os.StartProcess(args[0], args, &os.ProcAttr{
			Env: os.Environ(), Files: []*os.File{nil, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err != nil {
			return err
		}
		_ = p.Release() // it is waited for with all others
	}
	for {
		_, err := unix.Wait4(-1, nil, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil // no process is left
		}
	}
}

// prepare mounts what is the machine's own. No other machine sees it.
func (m Machine) prepare() error {
	if err := unix.Sethostname([]byte(m.Name)); err != nil {
		return fmt.Errorf("set the name: %w", err)
	}
	err := errors.Join(
		mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		mount("proc", "/proc", "proc", 0, ""),
	)
	for _, f := range m.Files {
		err = errors.Join(err, mount(f.Is, f.Path, "", unix.MS_BIND, ""))
	}
	for _, dir := range m.Empty {
		err = errors.Join(err, mount("tmpfs", dir, "tmpfs", 0, "mode=0755"))
	}
	for _, dir := range m.Folders {
		err = errors.Join(err, os.Mkdir(dir, 0o755)) // as sshd wants it
	}
	return err
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
