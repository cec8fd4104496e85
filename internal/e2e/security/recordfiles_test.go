package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Files: what we write is nobody else's to read or write, and what we read may have
// been written by anybody.

func TestEverythingIsPrivateWhateverTheUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "022", "077"} {
		t.Run(umask, func(t *testing.T) {
			m := standIn(t)
			m.under("umask " + umask)
			nbs := m.InNbs()
			for _, args := range [][]string{
				{"spawn", "alpha", "--prompt", "Remember 42.", "--trust"}, {"session", "alpha"}, {"list"}, {"stop", "alpha"},
				{"resume", "alpha", "--prompt", "What number?"}, {"resume", "alpha", "--force", "--fresh"}, {"dismiss", "alpha"},
			} {
				m.OK(args...)
				rig.MustBePrivate(t, nbs, 2)
				rig.MustBePrivate(t, m.InState(), 2)
				rig.MustBePrivate(t, filepath.Join(m.World.RunDir, "nbs-worker"), 0)
				if left := m.LaunchFiles(); len(left) > 0 {
					t.Errorf("%s left the caller's environment: %q", args[0], left)
				}
			}
		})
	}
}

// What is written into Claude's configuration, and the folder where there is none.
func TestTrustedConfigurationIsPrivate(t *testing.T) {
	m := standIn(t)
	m.under("umask 000")
	config := filepath.Join(m.World.Root, "new", "config")
	m.Env = append(m.Env, "CLAUDE_CONFIG_DIR="+config, "NBS_CLAUDE="+m.Script("exit 1"))
	m.Refused(1, "claude left", "spawn", "alpha", "--trust")
	rig.MustBePrivate(t, config, 2)
}

// What a later version may have nested in a record is kept; what makes a record ambiguous is refused
// (internal/cli).
func TestNestedFieldOfALaterVersionIsKept(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	nested := `,"new":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}"
	m.WriteRecord("alpha", strings.TrimSuffix(strings.TrimSpace(m.RecordText("alpha")), "}")+nested)
	m.OK("resume", "alpha")
	m.Check(strings.Contains(strings.Join(strings.Fields(m.RecordText("alpha")), ""), strings.Repeat("[", 50)), "an unknown field was lost")
}

// Words that are harmless to keep and not to use: they are looked at again before
// claude gets them, and an agent with such a record can still be ended.
func TestTamperedArgumentsAndVariablesAreNotUsed(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	whole := m.RecordText("alpha")
	for _, args := range [][]string{{"--dangerously-skip-permissions"}, {"Hello."}} { // and many more in the tests of cli
		m.SetRecord("alpha", func(fields map[string]any) { fields["claude_args"] = args })
		m.Refused(8, "changed since it was allowed: claude_args", "resume", "alpha", "--force")
		m.Allow("alpha")
		m.Refused(4, "extra argument", "resume", "alpha", "--force")
	}
	m.WriteRecord("alpha", whole)
	for _, name := range []string{"NBS_INVOCATION_ID", "LD_PRELOAD"} {
		m.SetRecord("alpha", func(fields map[string]any) { fields["env"] = map[string]string{name: "x"} })
		m.Refused(8, "not allowed", "resume", "alpha", "--force")
		m.Allow("alpha")
		m.Refused(4, "variable "+name+" cannot be set", "resume", "alpha", "--force")
	}
	s := m.Session("alpha")
	m.Check(s.Running, "a refused resume ended the agent: %+v", s)
	m.OK("stop", "alpha")
}

// More than a record may hold is refused before anything is started, not found damaged
// at the next look.
func TestRecordThatWouldBeTooLargeIsRefused(t *testing.T) {
	m := standIn(t)
	args := []string{"spawn", "alpha"}
	for i := range 11 {
		args = append(args, "--env", fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 100<<10)))
	}
	m.Refused(4, "the limit is", args...)
	_, err := os.Stat(m.RecordPath("alpha"))
	m.Check(err != nil && m.ServerPID() == 0, "something was left")
	r := m.NBS("list", "--json")
	m.Check(r.Code == 0 && strings.TrimSpace(r.Stdout) == "[]", "%v", r)
}

// A project that another user prepared decides nothing, whoever names it.
func TestProjectOfAnotherUserIsRefused(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	theirs := m.Folder("theirs")
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{theirs}})
	nbs := filepath.Join(theirs, ".nbs")
	m.OK("--root", theirs, "spawn", "alpha")
	m.OK("--root", theirs, "stop", "alpha")
	rig.GiveAway(t, theirs)
	before := m.Snapshot(nbs)
	inside := m.Folder("theirs/deep/below")
	for how, run := range map[string]func(args ...string) e2e.Result{
		"--root":   func(args ...string) e2e.Result { return m.NBS(append([]string{"--root", theirs}, args...)...) },
		"NBS_ROOT": func(args ...string) e2e.Result { return m.NBSWith([]string{"NBS_ROOT=" + theirs}, args...) },
		"found upward": func(args ...string) e2e.Result {
			m.Dir = inside
			defer func() { m.Dir = m.World.Project }()
			return m.NBS(args...)
		},
	} {
		for _, args := range [][]string{
			{"list"}, {"session", "alpha"}, {"resume", "alpha"}, {"stop", "alpha"}, {"dismiss", "alpha"}, {"run", "alpha"}, {"spawn", "beta"}, {"spawn", "beta", "--dry-run"},
		} {
			r := run(args...)
			m.Check(r.Code == 4 && strings.Contains(r.Stderr, "belongs to user id 65534"), "%s, %q: %s", how, args, r)
		}
	}
	after := m.Snapshot(nbs)
	m.Check(after == before, "something was written\nbefore %s\nafter %s", before, after)
	// Also when only the record is theirs, in folders of ours.
	folders, err := os.ReadDir(nbs)
	m.Must(err)
	m.Must(os.Chown(nbs, 0, 0))
	for _, folder := range folders {
		if folder.IsDir() {
			m.Must(os.Chown(filepath.Join(nbs, folder.Name()), 0, 0))
		}
	}
	for _, verb := range []string{"session", "resume", "stop", "dismiss"} {
		m.Refused(4, "alpha.json\" belongs to user id 65534", "--root", theirs, verb, "alpha")
	}
}
