package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/mem"

	"nbs-worker/internal/human"
)

const (
	littleMemory = 200 << 20 // bytes: of one claude
	littleBytes  = 200 << 20
	noBytes      = 4 << 20
	littleFiles  = 1000
	manyPerCore  = 8 // processes that want to run
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

func (d *examination) memory(ctx context.Context) findings {
	memory, err := mem.VirtualMemoryWithContext(ctx)
	const look = "to see what uses it: ps -eo pid,rss,comm --sort=-rss | head"
	switch {
	case err != nil:
		return found(Note, "the memory of this machine cannot be measured: "+oneLine(err), "")
	case memory.Available < littleMemory:
		return found(Warning, "this machine has "+human.Bytes(memory.Available)+" of memory left",
			"one more claude needs about that much; without memory the kernel kills a large process", look)
	}
	return holding(fmt.Sprintf("%s of %s of memory are available", human.Bytes(memory.Available), human.Bytes(memory.Total)))
}

func (d *examination) load(context.Context) findings {
	load, cores := d.project.Machine.Load()
	boot, err := d.project.Machine.BootTime()
	if err != nil {
		return found(Note, "the load of this machine cannot be measured: "+oneLine(err), "")
	}
	said := fmt.Sprintf("load %.1f on %s, up for %s", load, human.Count(cores, "core"), d.project.Now().Sub(boot).Round(time.Second))
	if load > float64(manyPerCore*cores) {
		return found(Note, "this machine is very busy: "+said, "starts take long; spawn gives up after --timeout, and the agent may get ready later", "to see what runs: top -b -n 1 | head -20")
	}
	return holding(said)
}
