package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

const sessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

// The tests see no tmux server, no Claude configuration and no setting of whoever
// runs them. There is a program in claude's place, which is never started.
func TestMain(m *testing.M) {
	os.Exit(apart(m))
}

func apart(m *testing.M) int {
	home, err := os.MkdirTemp("", "nbs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	fake := filepath.Join(home, "claude")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexit 99\n"), 0o700); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "TMUX_TMPDIR": home, "NBS_TMUX_SOCKET": filepath.Join(home, "s"), "NBS_CLAUDE": fake, "IS_SANDBOX": "1",
		"CLAUDE_CONFIG_DIR": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "NBS_STATE": "", "NBS_RUNTIME": "", "NBS_ROOT": "", "NBS_MODEL": "", "NBS_PERMISSION_MODE": "", "NBS_LAUNCH": "", "TMUX": "", "NO_COLOR": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return rig.Tight(m)
}

// ran is what a run of the program left.
type ran struct {
	code     int
	out, err string
}

// run runs the program in a pipe.
func run(args ...string) ran { return runOn(Streams{}, args...) }

// runOn runs the program on streams whose kind is given.
func runOn(streams Streams, args ...string) ran {
	var out, err bytes.Buffer
	if streams.In == nil {
		streams.In = strings.NewReader("")
	}
	if streams.Out == nil {
		streams.Out = &out
	}
	streams.Err = &err
	code := Main(args, streams)
	return ran{code: code, out: out.String(), err: err.String()}
}

// want checks a run's exit code and that its stderr holds some text.
func (r ran) want(t *testing.T, code fail.Kind, texts ...string) ran {
	t.Helper()
	rig.Check(t, r.code == int(code), "exit code %d; want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	for _, text := range texts {
		rig.Check(t, strings.Contains(r.err, text), "stderr does not hold %q:\n%s", text, r.err)
	}
	return r
}

// newProject makes a project with the records.
func newProject(t *testing.T, records ...agent.Record) string {
	t.Helper()
	s, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	unlock, err := s.LockVerb("nobody", "spawn", time.Now())
	rig.Must(t, err)
	defer unlock()
	for _, r := range records {
		rig.Must(t, s.Insert(t.Context(), r))
	}
	return s.Project()
}

// record is that of an agent that was never started.
func record(handle agent.Handle) agent.Record {
	return agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: handle, SessionID: sessionID, Model: "opus", ProjectRoot: "/srv/project",
		},
		TmuxSession: "nbs-" + string(handle) + "-live",
		Started:     time.Now().Add(-3*time.Hour - time.Minute).UTC().Truncate(time.Second), Desired: agent.DesiredRunning,
	}
}

// damage puts a record that cannot be read into a project.
func damage(t *testing.T, project, handle string) {
	t.Helper()
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/sessions", handle+".json"), []byte("{"), 0o600))
}

// full is a stream to which nothing can be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }
