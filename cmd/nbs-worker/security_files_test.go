package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			nbs := m.inNbs()
			for _, args := range [][]string{
				{"spawn", "alpha", "--prompt", "Remember 42.", "--trust"}, {"session", "alpha"}, {"list"}, {"stop", "alpha"},
				{"resume", "alpha", "--prompt", "What number?"}, {"resume", "alpha", "--force", "--fresh"}, {"dismiss", "alpha"},
			} {
				m.ok(args...)
				rig.MustBePrivate(t, nbs, 2)
				rig.MustBePrivate(t, m.inState(), 2)
				rig.MustBePrivate(t, filepath.Join(m.world.RunDir, "nbs-worker"), 0)
				if left := m.launchFiles(); len(left) > 0 {
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
	config := filepath.Join(m.world.Root, "new", "config")
	m.env = append(m.env, "CLAUDE_CONFIG_DIR="+config, "NBS_CLAUDE="+m.script("exit 1"))
	m.refused(1, "claude left", "spawn", "alpha", "--trust")
	rig.MustBePrivate(t, config, 2)
}

// What a later version may have nested in a record is kept; what makes a record ambiguous is refused
// (internal/cli).
func TestNestedFieldOfALaterVersionIsKept(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	nested := `,"new":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}"
	m.writeRecord("alpha", strings.TrimSuffix(strings.TrimSpace(m.recordText("alpha")), "}")+nested)
	m.ok("resume", "alpha")
	m.check(strings.Contains(strings.Join(strings.Fields(m.recordText("alpha")), ""), strings.Repeat("[", 50)), "an unknown field was lost")
}

// Words that are harmless to keep and not to use: they are looked at again before
// claude gets them, and an agent with such a record can still be ended.
func TestTamperedArgumentsAndVariablesAreNotUsed(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	whole := m.recordText("alpha")
	for _, args := range [][]string{{"--dangerously-skip-permissions"}, {"Hello."}} { // and many more in the tests of cli
		m.setRecord("alpha", func(fields map[string]any) { fields["claude_args"] = args })
		m.refused(8, "changed since it was allowed: claude_args", "resume", "alpha", "--force")
		m.allow("alpha")
		m.refused(4, "extra argument", "resume", "alpha", "--force")
	}
	m.writeRecord("alpha", whole)
	for _, name := range []string{"NBS_INVOCATION_ID", "LD_PRELOAD"} {
		m.setRecord("alpha", func(fields map[string]any) { fields["env"] = map[string]string{name: "x"} })
		m.refused(8, "not allowed", "resume", "alpha", "--force")
		m.allow("alpha")
		m.refused(4, "variable "+name+" cannot be set", "resume", "alpha", "--force")
	}
	s := m.session("alpha")
	m.check(s.Running, "a refused resume ended the agent: %+v", s)
	m.ok("stop", "alpha")
}

// More than a record may hold is refused before anything is started, not found damaged
// at the next look.
func TestRecordThatWouldBeTooLargeIsRefused(t *testing.T) {
	m := standIn(t)
	args := []string{"spawn", "alpha"}
	for i := range 11 {
		args = append(args, "--env", fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 100<<10)))
	}
	m.refused(4, "the limit is", args...)
	_, err := os.Stat(m.recordPath("alpha"))
	m.check(err != nil && m.serverPID() == 0, "something was left")
	r := m.nbs("list", "--json")
	m.check(r.code == 0 && strings.TrimSpace(r.stdout) == "[]", "%v", r)
}

// A project that another user prepared decides nothing, whoever names it.
func TestProjectOfAnotherUserIsRefused(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	theirs := m.folder("theirs")
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{theirs}})
	nbs := filepath.Join(theirs, ".nbs")
	m.ok("--root", theirs, "spawn", "alpha")
	m.ok("--root", theirs, "stop", "alpha")
	rig.GiveAway(t, theirs)
	before := m.snapshot(nbs)
	inside := m.folder("theirs/deep/below")
	for how, run := range map[string]func(args ...string) result{
		"--root":   func(args ...string) result { return m.nbs(append([]string{"--root", theirs}, args...)...) },
		"NBS_ROOT": func(args ...string) result { return m.nbsWith([]string{"NBS_ROOT=" + theirs}, args...) },
		"found upward": func(args ...string) result {
			m.dir = inside
			defer func() { m.dir = m.world.Project }()
			return m.nbs(args...)
		},
	} {
		for _, args := range [][]string{
			{"list"}, {"session", "alpha"}, {"resume", "alpha"}, {"stop", "alpha"}, {"dismiss", "alpha"}, {"run", "alpha"}, {"spawn", "beta"}, {"spawn", "beta", "--dry-run"},
		} {
			r := run(args...)
			m.check(r.code == 4 && strings.Contains(r.stderr, "belongs to user id 65534"), "%s, %q: %s", how, args, r)
		}
	}
	after := m.snapshot(nbs)
	m.check(after == before, "something was written\nbefore %s\nafter %s", before, after)
	// Also when only the record is theirs, in folders of ours.
	folders, err := os.ReadDir(nbs)
	m.must(err)
	m.must(os.Chown(nbs, 0, 0))
	for _, folder := range folders {
		if folder.IsDir() {
			m.must(os.Chown(filepath.Join(nbs, folder.Name()), 0, 0))
		}
	}
	for _, verb := range []string{"session", "resume", "stop", "dismiss"} {
		m.refused(4, "alpha.json\" belongs to user id 65534", "--root", theirs, verb, "alpha")
	}
}
