package security

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Files: what we write is nobody else's to read or write, and what we read may have
// been written by anybody.

func TestEverythingIsPrivateWhateverTheUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "077"} {
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
	m.Refused(1, "claude exited before it was ready", "spawn", "alpha", "--trust")
	rig.MustBePrivate(t, config, 2)
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
