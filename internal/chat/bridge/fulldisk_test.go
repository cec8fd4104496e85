package bridge_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// full is a house without room for the first files.
type full struct {
	*house
	fails atomic.Int32
}

func (f *full) Keep(ctx context.Context, key, id string, n int, file File, content []byte) (File, string, error) {
	if f.fails.Add(-1) >= 0 {
		return File{}, "", errors.New("no space left on device")
	}
	return f.house.Keep(ctx, key, id, n, file, content)
}

// A file that waits for room on the disk is told once, and fetched once.
func TestAFileThatWaitsForRoomIsTold(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &full{house: &house{}}
	h.fails.Store(3)
	run(t, server, h.house, func(o *Options) { o.Chats = h })
	server.Photo(7, []byte("x"), sim.Captioned("look"))
	sent := told(t, server, 7, 2)
	rig.Check(t, strings.Contains(sent[0], "no space left on device. It is tried again until it can.") && sent[1] == "You said: look", "%q", sent)
	rig.Equal(t, server.Calls("file"), 1, "downloads")
}
