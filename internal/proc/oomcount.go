package proc

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// oomCounter is the kernel's count of the processes of one cgroup that it killed for want
// of memory.
type oomCounter struct {
	path   string
	atOnce *os.File // tells of each change; nil: a cgroup v1, whose files do not

	mu     sync.Mutex
	start  uint64
	before uint64 // before the latest burst of kills
	latest uint64
	at     time.Time // of the latest change
}

// openCounter returns nil where the memory cgroup of the process cannot be read.
func openCounter(pid int) *oomCounter {
	file, notifies := oomFile(pid)
	if file == "" {
		return nil
	}
	count, known := readOOMKills(file)
	if !known {
		return nil
	}
	c := &oomCounter{path: file, start: count, before: count, latest: count}
	if notifies {
		c.listen()
	}
	return c
}

// listen notes when the count changes. It waits in the kernel until then.
func (c *oomCounter) listen() {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return
	}
	if _, err := unix.InotifyAddWatch(fd, c.path, unix.IN_MODIFY); err != nil {
		_ = unix.Close(fd)
		return
	}
	c.atOnce = os.NewFile(uintptr(fd), "inotify")
	go func(changes *os.File) {
		for event := make([]byte, 4<<10); ; {
			if _, err := changes.Read(event); err != nil {
				return
			}
			c.look()
		}
	}(c.atOnce)
}

// look takes down a count that has changed.
func (c *oomCounter) look() {
	count, known := readOOMKills(c.path)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !known || count == c.latest {
		return
	}
	if now.Sub(c.at) > oomSettle {
		c.before = c.latest
	}
	c.latest, c.at = count, now
}

// sinceStart is by how much the count rose, and whether it did just now.
func (c *oomCounter) sinceStart() (kills uint64, fresh bool) {
	c.look()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest < c.start {
		return 0, false // another cgroup has its place
	}
	return c.latest - c.start, c.atOnce != nil && c.latest > c.before && time.Since(c.at) <= oomSettle
}

func (c *oomCounter) close() {
	if c.atOnce != nil {
		_ = c.atOnce.Close()
	}
}

// readOOMKills reads the line "oom_kill N", which v1 and v2 have alike.
func readOOMKills(path string) (count uint64, known bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if number, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			count, err := strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 64)
			return count, err == nil
		}
	}
	return 0, false
}
