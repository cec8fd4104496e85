package terminals

import (
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// A terminal that a killed process has taken gets its modes back, once; one whose process lives does not.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	master, terminal, err := pty.Open()
	rig.Must(t, err)
	defer master.Close()
	defer terminal.Close()
	d := Of(t.TempDir())
	self, err := local.New().Self()
	rig.Must(t, err)
	_, err = d.Take(terminal, self)
	rig.Must(t, err)
	raw, err := portable.Modes(terminal)
	rig.Must(t, err)
	raw.Lflag &^= unix.ICANON | unix.ECHO
	rig.Must(t, portable.SetModes(terminal, raw))
	given := func(lives bool) bool {
		given, err := d.GiveBack(terminal, func(by agent.Identity) bool {
			rig.Equal(t, by, self, "who has taken it")
			return lives
		})
		rig.Must(t, err)
		return given
	}
	rig.Check(t, !given(true), "it was taken from a live process")
	rig.Check(t, given(false), "it was not given back")
	now, err := portable.Modes(terminal)
	rig.Must(t, err)
	rig.Check(t, now.Lflag&unix.ICANON != 0 && now.Lflag&unix.ECHO != 0, "its modes are %x", now.Lflag)
	rig.Check(t, !given(false), "it was given back twice")
	release, err := d.Take(terminal, self)
	rig.Must(t, err)
	release()
	rig.Check(t, !given(false), "it was given back after its release")
}

// Without a runtime folder nothing is kept.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	master, terminal, err := pty.Open()
	rig.Must(t, err)
	defer master.Close()
	defer terminal.Close()
	_, err = Of("").Take(terminal, agent.Identity{})
	rig.Check(t, err != nil, "it was noted nowhere")
	given, err := Of("").GiveBack(terminal, func(agent.Identity) bool { return false })
	rig.Check(t, !given && err == nil, "%t, %v", given, err)
}
