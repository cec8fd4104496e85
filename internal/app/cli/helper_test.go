package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) {
	if os.Getenv(isFar) != "" { // the nbs-worker of a host
		os.Exit(Main(os.Args[1:], ui.System()))
	}
	os.Exit(uitest.Apart(m))
}

// ran is what a run of the program left.
type ran struct {
	code     int
	out, err string
}

// run runs the program in a pipe.
func run(args ...string) ran { return runOn(ui.Streams{}, args...) }

// runOn runs the program on streams whose kind is given.
func runOn(streams ui.Streams, args ...string) ran {
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

// damage puts a record that cannot be read into a project.
func damage(t *testing.T, project, handle string) {
	t.Helper()
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/sessions", handle+".json"), []byte("{"), 0o600))
}
