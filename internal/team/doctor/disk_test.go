package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestRoomOnADisk(t *testing.T) {
	t.Parallel()
	folder := rig.ShortDir(t)
	for _, at := range []string{folder, filepath.Join(folder, "not", "made", "yet")} {
		f := roomOn(t.Context(), "the project", at)
		rig.Check(t, f.What != "" && !strings.Contains(f.What, "cannot be measured"), "%s: %+v", at, f)
	}
	f := roomOn(t.Context(), "the project", "/proc/self/mem/x")
	rig.Check(t, f.Level == Warning && strings.Contains(f.What, "the disk of the project cannot be measured: "), "%+v", f)
}

func TestLittleRoomOnADisk(t *testing.T) {
	t.Parallel()
	for size, want := range map[string]struct {
		level Level
		says  string
	}{"64k": {Failure, " is full: 64 KiB free"}, "50m": {Warning, " is nearly full: 50 MiB free"}} {
		folder := rig.ShortDir(t)
		rig.PrivateMounts(t).Tmpfs(folder, size)
		f := roomOn(t.Context(), "the project", folder)
		rig.Check(t, f.Level == want.level && f.What == "the disk of the project"+want.says && len(f.Fix) == 1 && f.Fix[0] == "df -h '"+folder+"'", "%s: %+v", size, f)
	}
}
