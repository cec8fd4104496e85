package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

// newPlace makes the folders that are watched.
func newPlace(t *testing.T) Place {
	t.Helper()
	root := t.TempDir()
	place := Place{NBS: root + "/nbs", Launches: root + "/launch", Config: root + "/config", Tmux: root + "/tmux", Handle: "alpha"}
	for _, dir := range []string{place.NBS + "/locks", place.NBS + "/sessions", place.Launches, place.Config + "/sessions", place.Config + "/projects", place.Tmux} {
		rig.Must(t, os.MkdirAll(dir, 0o700))
	}
	return place
}

// victim starts a process that lives until it is killed.
func victim(t *testing.T) *exec.Cmd {
	t.Helper()
	return rig.StartChild(t, exec.Command("cat")).Cmd
}

func held(t *testing.T, cmd *exec.Cmd) *os.Process {
	t.Helper()
	p, err := os.FindProcess(cmd.Process.Pid)
	rig.Check(t, err == nil, "%v", err)
	return p
}

func put(t *testing.T, path string) {
	t.Helper()
	rig.Must(t, os.WriteFile(path, []byte("x"), 0o600))
}

// replace writes a file as the product does.
func replace(t *testing.T, path string) {
	t.Helper()
	temporary := filepath.Dir(path) + "/." + filepath.Base(path) + "123"
	put(t, temporary)
	rig.Must(t, os.Rename(temporary, path))
}

// Not beside others: a child that one of them forks has the lease open until its exec, and a file that
// was written is closed when nobody has it open.
func TestStrikeAtAStep(t *testing.T) { //nolint:paralleltest // see above
	place, cat := newPlace(t), victim(t)
	fault := Fault{Verb: Spawn, Victims: []Victim{Claude}, Moment: Moment{Step: "record", Nth: 2}}
	strike, err := Begin(fault, place, time.Hour, func(Victim) *os.Process { return held(t, cat) })
	rig.Must(t, err)
	replace(t, place.NBS+"/sessions/alpha.json")
	replace(t, place.NBS+"/sessions/beta.json")
	put(t, place.NBS+"/locks/4f0c.lease")
	replace(t, place.NBS+"/sessions/alpha.json")
	err = cat.Wait()
	rig.Check(t, err != nil && err.Error() == "signal: killed", "the victim ended by %v", err)
	got := strike.End()
	rig.Check(t, got.Hit && got.At == fault.Moment && got.Err == nil && len(got.PIDs) == 1 && got.PIDs[0] == cat.Process.Pid && got.Saw(fault.Moment), "%+v", got)
	trail := got.Trail()
	rig.Check(t, strings.Contains(trail, "lease 1") && strings.Index(trail, "record 2") <= strings.Index(trail, "KILLED claude"), "%s", trail)
}

// A moment that comes before its victim waits for it, and what was hit is where the verb had come by then.
func TestStrikeWaitsForItsVictims(t *testing.T) {
	t.Parallel()
	place, first, second := newPlace(t), victim(t), victim(t)
	asked := false
	fault := Fault{Victims: []Victim{TheVerb, Launcher}, Moment: Moment{Step: "lease", Nth: 1}}
	strike, err := Begin(fault, place, time.Second, func(v Victim) *os.Process {
		if v == TheVerb {
			return held(t, first)
		}
		if !asked {
			asked = true
			err := os.WriteFile(place.NBS+"/sessions/.alpha.json123", nil, 0o600)
			rig.Check(t, err == nil, "%v", err)
			return nil
		}
		return held(t, second)
	})
	rig.Must(t, err)
	put(t, place.NBS+"/locks/4f0c.lease")
	for _, cmd := range []*exec.Cmd{first, second} {
		err := cmd.Wait()
		rig.Check(t, err != nil && err.Error() == "signal: killed", "a victim ended by %v", err)
	}
	got := strike.End()
	rig.Check(t, got.Hit && len(got.PIDs) == 2 && got.At == (Moment{Step: "record begun", Nth: 1}), "%+v", got)
}

func TestStrikeMisses(t *testing.T) {
	t.Parallel()
	place, cat := newPlace(t), victim(t)
	strike, err := Begin(Fault{Victims: []Victim{Claude}, Moment: Moment{Step: "journal", Nth: 1}}, place, time.Second, func(Victim) *os.Process { return held(t, cat) })
	rig.Must(t, err)
	replace(t, place.Launches+"/alpha.json")
	got := strike.End()
	rig.Check(t, !got.Hit && got.Err == nil && got.Saw(Moment{Step: "launch file", Nth: 1}), "%+v", got)
}

// The folder of a first transcript comes into being during the verb.
func TestStepsInANewFolder(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	w, err := newWatcher(place)
	rig.Must(t, err)
	defer unix.Close(w.fd) //nolint:errcheck // it was only read
	defer w.file.Close()
	rig.Must(t, os.Mkdir(place.Config+"/projects/-home", 0o700))
	next := func(want string) {
		t.Helper()
		deadline, _ := rig.Patient(t).Deadline()
		steps, err := w.read(deadline)
		rig.Check(t, err == nil && steps[0] == want, "%v, %v; want %s", steps, err, want)
	}
	next("transcript folder")
	put(t, place.Config+"/projects/-home/4f0c.jsonl")
	next("transcript")
}
