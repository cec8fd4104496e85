package machine_test

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What differs from one operating system to another is behind this package and the packages below it. The rest of the
// product is the same text everywhere, so that what is tested on Linux is what runs on macOS.
func TestOnlyTheMachineDependsOnTheOperatingSystem(t *testing.T) {
	t.Parallel()
	root := rig.Root(t)
	seen := 0
	for _, top := range []string{"cmd", "internal", "runbooks"} {
		rig.Must(t, filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			seen++
			within, err := filepath.Rel(root, path)
			rig.Must(t, err)
			if strings.HasPrefix(within, "internal/platform/machine/") || strings.HasPrefix(within, "internal/sim/") {
				return nil
			}
			for _, system := range []string{"linux", "darwin"} {
				for _, arch := range []string{"amd64", "arm64"} {
					context := build.Default
					context.GOOS, context.GOARCH, context.CgoEnabled = system, arch, false
					built, err := context.MatchFile(filepath.Dir(path), filepath.Base(path))
					rig.Must(t, err)
					rig.Check(t, built, "%s is not built on %s, %s: what depends on the system belongs below internal/platform/machine", within, system, arch)
				}
			}
			return nil
		}))
	}
	rig.Check(t, seen > 100, "looked at %d files only", seen)
}
