package dash

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
)

// A verb at a host goes over the connection that is there. What it says is shown, with what helps.
func TestVerbsAtAHost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+aliceBusy+"]", "stop alice", "alice\n", "send --queue alice -- hi", "sent\n", "stop --root=/p alice", "alice\n")
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" })
	s := &shell{ctx: t.Context(), source: f}
	alice := Who{Handle: "alice", Host: "build1"}
	does := func(who Who, args ...string) ended {
		return s.run(Deed{Kind: Run, Who: who, Verb: args[0], Args: args})().(ended)
	}
	rig.Equal(t, does(alice, "stop", "alice"), ended{alice, "alice@build1: stop is done", false}, "stop")
	rig.Equal(t, does(alice, "send", "--queue", "alice", "--", "hi"), ended{alice, "sent\n", false}, "send")
	got := does(alice, "resume", "alice")
	rig.Check(t, got.failed && strings.Contains(got.said, "no such agent"), "%+v", got)
	inProject := Who{Handle: "alice", Host: "build1", Project: "/p"}
	rig.Check(t, !does(inProject, "stop", "alice").failed, "it was not asked for in its project")

	d.become(fail.Errorf(fail.TimedOut, "%w", because(link.Down)).Hint("look there"))
	got = does(alice, "stop", "alice")
	rig.Check(t, got.failed && strings.Contains(got.said, "is unreachable: it refuses connections") && strings.HasSuffix(got.said, "\nhint: look there"), "%+v", got)
	got = does(Who{Handle: "alice", Host: "gone"}, "stop", "alice")
	rig.Check(t, got.failed && got.said == "its host is gone", "%+v", got)
}
