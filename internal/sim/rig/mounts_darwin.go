package rig

import "testing"

// Mounts makes mounts that only one test and the processes that it starts see. macOS has none.
type Mounts struct{}

// PrivateMounts fails the test.
func PrivateMounts(t testing.TB) Mounts {
	t.Helper()
	lacks(t, "macOS has no mount namespaces")
	return Mounts{}
}

// Tmpfs would mount a file system in memory on a folder.
func (Mounts) Tmpfs(_, _ string) {}

// ReadOnly would make a folder and all below it read-only.
func (Mounts) ReadOnly(string) {}

// Named would give the machine another name.
func (Mounts) Named(string) {}

// Unmount would remove a mount.
func (Mounts) Unmount(string) {}

// Image would mount the file system of an image file.
func (Mounts) Image(_, _ string) {}
