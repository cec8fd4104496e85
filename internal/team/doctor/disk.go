package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/shirou/gopsutil/v3/disk"

	"nbs-worker/internal/human"
)

const (
	littleBytes = 200 << 20
	noBytes     = 4 << 20
	littleFiles = 1000
)

// roomOn returns how much is free on the disk of a folder, which may not exist yet.
func roomOn(ctx context.Context, what, folder string) Finding {
	usage, err := disk.UsageWithContext(ctx, folder)
	for ; errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); usage, err = disk.UsageWithContext(ctx, folder) {
		folder = filepath.Dir(folder)
	}
	room := Finding{
		Level: Warning, What: "the disk of " + what, Fix: []string{"df -h " + human.ShellWord(folder)},
		Why: "without space no agent can be started, and a running agent loses its conversation when it ends",
	}
	switch {
	case err != nil:
		room.What, room.Why = room.What+" cannot be measured: "+oneLine(err), "there may be no space for records or transcripts"
	case usage.Free < noBytes:
		room.Level, room.What = Failure, room.What+" is full: "+human.Bytes(usage.Free)+" free"
	case usage.Free < littleBytes:
		room.What += " is nearly full: " + human.Bytes(usage.Free) + " free"
	case usage.InodesTotal > 0 && usage.InodesFree < littleFiles:
		room.What += fmt.Sprintf(" has room for only %d more files", usage.InodesFree)
	default:
		return Finding{Level: Holds, What: room.What + " has " + human.Bytes(usage.Free) + " free"}
	}
	return room
}
