package rig

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Mounts makes mounts that only one test and the processes that it starts see.
type Mounts struct{ t testing.TB }

// PrivateMounts gives the calling goroutine a mount namespace of its own and binds the goroutine to its thread for
// good. The other goroutines of the test see the machine's own mounts. The thread ends with the test, and what was
// mounted with the thread.
func PrivateMounts(t testing.TB) Mounts {
	t.Helper()
	NeedsRoot(t)
	runtime.LockOSThread() // never unlocked
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		lacks(t, "a mount namespace cannot be made: "+err.Error())
	}
	m := Mounts{t}
	m.mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	return m
}

func (m Mounts) mount(source, target, kind string, flags uintptr, options string) {
	m.t.Helper()
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		m.t.Fatalf("mount %s on %s: %v", source, target, err)
	}
}

// Tmpfs mounts a file system in memory on a folder, which it makes.
func (m Mounts) Tmpfs(dir, size string) {
	m.t.Helper()
	m.folder(dir)
	m.mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	m.t.Cleanup(func() { m.Unmount(dir) })
}

// ReadOnly makes a folder and all below it read-only, for root too.
func (m Mounts) ReadOnly(dir string) {
	m.t.Helper()
	m.mount(dir, dir, "", unix.MS_BIND, "")
	m.mount("none", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	m.t.Cleanup(func() { m.Unmount(dir) })
}

// Named gives the machine another name, which only the calling goroutine and what it starts see.
func (m Mounts) Named(host string) {
	m.t.Helper()
	Must(m.t, unix.Unshare(unix.CLONE_NEWUTS))
	Must(m.t, unix.Sethostname([]byte(host)))
}

// Unmount removes a mount at once, even while files in it are open. Where nothing is mounted it does nothing.
func (m Mounts) Unmount(dir string) {
	m.t.Helper()
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && err != unix.EINVAL {
		m.t.Errorf("unmount %s: %v", dir, err)
	}
}

// Image mounts the file system of an image file, by a loop device.
func (m Mounts) Image(image, dir string) {
	m.t.Helper()
	m.folder(dir)
	out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput()
	if err != nil {
		lacks(m.t, "no image can be mounted: "+strings.TrimSpace(string(out)))
	}
	m.t.Cleanup(func() { m.Unmount(dir) })
}

func (m Mounts) folder(dir string) {
	m.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
}
