package hosts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checks runs host check, and checks its exit code and what it says.
func (f *fleet) checks(name string, code int, says ...string) {
	f.Helper()
	r := f.Finish(f.Command([]string{"host", "check", name}))
	f.Check(r.Code == code, "host check: exit code %d; want %d: %s", r.Code, code, r)
	f.MustSay(r.Stdout, says...)
}

// As a new user goes: add a host, copy the program, see what is missing, enable it. Then a reboot costs no conversation.
func TestAHostIsSetUp(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.OK("host", "remove", "build1")
	f.OK("host", "add", "build1", "build1", "--folder", h.Dir, "--install", "--yes")
	info, err := os.Stat(filepath.Join(h.World.Home, ".local/bin/nbs-worker"))
	f.Check(err == nil && info.Mode() == 0o700, "the program there: %v, %v", info, err)
	f.MustSay(f.OK("host", "list"), "build1\tbuild1\t"+h.Dir)

	f.OK("spawn", "alice@build1", "--prompt", "Remember 42.")
	h.MustAnswer("alice", "OK, I will remember 42.")
	before := h.WaitState("alice", "idle")
	f.checks("build1", 1, "ok       ssh reaches build1", "ok       it has nbs-worker", "ok       its clock is right", "ok       tmux has version",
		"warning  no service brings the agents back after a reboot", "fix: nbs-worker host enable build1")

	f.Refused(4, "nbs-worker host enable build1 --yes", "host", "enable", "build1")
	h.Write(filepath.Join(h.World.Home, ".config/nbs-worker/environment"), strings.Join(h.Env, "\n")+"\n")
	f.OK("host", "enable", "build1", "--yes")
	f.MustSay(f.Finish(f.Command([]string{"host", "check", "build1"})).Stdout, "ok       agents come back after a reboot, and outlive each login")
	h.machine.Reboot()
	after := h.WaitState("alice", "idle")
	h.Check(after.SessionID == before.SessionID, "alice is in another conversation: before %+v\nafter %+v", before, after)
	if got := h.Reply("alice", "What number?"); got != "42" {
		t.Errorf("after the reboot alice says %q", got)
	}
}

// What the real ssh says of a host that cannot be reached is told with its mend.
func TestWhyAHostIsNotReached(t *testing.T) {
	f := standIn(t, "build1")
	network := f.hosts["build1"].machine.Network
	network.Down()
	f.checks("build1", 1, "failure  build1 is unreachable", "fix: to see how far ssh gets: ssh -v build1 true")
	network.Up()
	network.Silence()
	f.checks("build1", 1, "failure  build1 is unreachable: it did not answer in time")
	network.Up()
	known, key := filepath.Join(f.World.Home, ".ssh/known_hosts"), filepath.Join(f.World.Home, ".ssh/id_ed25519")
	text, err := os.ReadFile(known)
	f.Must(err)
	f.Write(known, "")
	f.checks("build1", 6, "its key is not known here, or has changed", "fix: look at its key, and accept it if it is right: ssh build1")
	f.Write(known, string(text))
	f.Must(os.Rename(key, key+".aside"))
	f.checks("build1", 6, "it does not let you in", "fix: log in without a password, by a key: ssh-copy-id build1")
	f.Must(os.Rename(key+".aside", key))
	f.OK("host", "add", "nowhere", "nowhere.invalid")
	f.checks("nowhere", 6, "its name is not known")
}
