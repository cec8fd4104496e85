package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/triage"
)

const fullPolicy = `
agents: [alpha, beta]
except: [gamma]
max-level: 4
every: 90s
patience: 20m
repairs:
  per-hour: 5
  per-agent: 2
context:
  bands: 30,20,5
  compact: never
notify:
  command: [/bin/tell, --loud, a b]
  on: [held]
  timeout: 3s
  per-hour: 7
`

func TestPolicyOfAFile(t *testing.T) {
	t.Parallel()
	got, err := parse("p", Default(), []byte(fullPolicy))
	rig.Must(t, err)
	rig.Same(t, "policy", Policy{
		Agents: []agent.Handle{"alpha", "beta"}, Except: []agent.Handle{"gamma"}, MaxLevel: triage.LevelFresh, Every: 90 * time.Second, Patience: 20 * time.Minute,
		PerHour: 5, PerAgent: 2, Bands: agent.Bands{Low: 30, Critical: 20, Floor: 5},
		Notify: &Notify{Program: notify.Program{Argv: []string{"/bin/tell", "--loud", "a b"}, Limit: 3 * time.Second}, Of: []Kind{Holds}, PerHour: 7},
	}, got)
	for _, text := range []string{"", "# nothing\n", "repairs:\n", "agents: []\n"} {
		got, err := parse("p", Default(), []byte(text))
		rig.Must(t, err)
		want := Default()
		want.Agents = got.Agents // an empty list, or none
		rig.Same(t, text, want, got)
	}
	got, err = parse("p", Default(), []byte("max-level: 0\nnotify: {command: [/bin/tell]}"))
	rig.Must(t, err)
	before, err := parse("p", Default(), []byte("notify: {command: [/bin/tell], on: [waiting, crashed, context]}"))
	rig.Must(t, err)
	rig.Same(t, "kinds by their earlier names", []Kind{Waits, Down, Short}, before.Notify.Of)
	rig.Check(t, got.MaxLevel == 0 && len(got.Notify.Of) == len(Kinds) && got.Notify.PerHour == 30, "%+v", got)
}

// Each slip of the finger is one line that says where.
func TestPolicyThatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"every: 5m\nmax-levl: 3":              `line 2, column 1: the policy: there is no field "max-levl"; did you mean max-level?`,
		"max-level: 5":                        `line 1, column 12: "5" is no level: it must be 0 (only tell) to 4`,
		"max-level: high":                     `line 1, column 12: "high" is no level`,
		"every: 5":                            `line 1, column 8: "5" is no time of whole seconds, 1s or more`,
		"every: -5m":                          `line 1, column 8: "-5m" is no time`,
		"every: 5m\nevery: 6m":                "line 2, column 1: the policy: every is there twice",
		"agents: alpha":                       "line 1, column 9: agents: it must be a list of handles",
		"agents:\n - alpha\n - ../x":          `line 3, column 4: agents: handle "../x"`,
		"repairs:\n  per-hour: -1":            `line 2, column 13: "-1" is no number of times`,
		"repairs: 3":                          "line 1, column 10: repairs: fields belong here",
		"context:\n  bands: 10,20,30":         "line 2, column 10: bands: ",
		"context:\n  compact: floor":          `line 2, column 12: compact: "floor" must be one of never, low and critical`,
		"notify:\n  command: tell":            "line 2, column 12: command: it must be a list: the absolute path",
		"notify:\n  command: [tell]":          "line 2, column 12: command: it must be a list: the absolute path",
		"notify:\n  command: [/t]\n  on: [x]": `line 3, column 8: on: "x" must be one of waits, down, short, done, held, repaired, paused, unreachable and reachable`,
		"notify:\n  on: [held]":               "line 2, column 3: notify: it needs a command",
		"\tevery: 5m":                         "line 1, column ",
		"- a":                                 "line 1, column 1: the policy: fields belong here",
		"every: 5m\n---\nevery: 6m":           "line 2, column 1: there is a second document",
	} {
		_, err := parse("p", Default(), []byte(text))
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.HasPrefix(err.Error(), `policy "p", `+want) && !strings.Contains(err.Error(), "\n"), "%q: %v; want %s", text, err, want)
	}
	_, err := parse("p", Default(), []byte("every: x\nfoo: 1\nnotify:\n  on: [x]\n"))
	rig.Check(t, err != nil && strings.HasPrefix(err.Error(), "policy \"p\", 4 mistakes\nline 1, column 8: "), "%v", err)
}

// An agent that could change the program would run what it likes as the user.
func TestProgramInTheProject(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	inside, link, beside := filepath.Join(project, "tell"), filepath.Join(home, "link"), project+"s/tell"
	rig.Must(t, os.WriteFile(inside, nil, 0o700))
	rig.Must(t, os.Symlink(inside, link))
	path := filepath.Join(home, "policy.yaml")
	for program, refused := range map[string]bool{inside: true, link: true, inside + "-later": true, home + "/tell": false, beside: false, "/bin/sh": false} {
		rig.Must(t, os.WriteFile(path, []byte("notify:\n  command: ["+program+"]"), 0o600))
		file, err := OpenPolicy(path, project)
		rig.Must(t, err)
		_, err = file.Policy(Default(), nil)
		rig.Check(t, refused == (err != nil && strings.Contains(err.Error(), "is in the project")), "%s: %v", program, err)
	}
}

func TestPolicyOfSomebodyElse(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	write := func(path string, mode os.FileMode) string {
		rig.Must(t, os.WriteFile(path, []byte("max-level: 2"), 0o600))
		rig.Must(t, os.Chmod(path, mode))
		return path
	}
	_, err := OpenPolicy(write(filepath.Join(home, "loose.yaml"), 0o660), project)
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "%v", err)
	_, err = OpenPolicy(filepath.Join(home, "none.yaml"), project)
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "%v", err)
	inside, link := write(filepath.Join(project, "policy.yaml"), 0o600), filepath.Join(home, "link.yaml")
	rig.Must(t, os.Symlink(inside, link))
	for path, name := range map[string]string{inside: "policy.yaml", link: "policy.yaml", write(filepath.Join(home, "policy.yaml"), 0o600): ""} {
		file, err := OpenPolicy(path, project)
		rig.Must(t, err)
		rig.Equal(t, file.Name, name, "name of %s", path)
		policy, err := file.Policy(Default(), func(kind, name string, content []byte) error {
			return fail.Errorf(fail.Held, "%s is not allowed: %s, %d bytes", name, kind, len(content))
		})
		if name == "" {
			rig.Check(t, err == nil && policy.MaxLevel == triage.LevelCompact, "%+v, %v", policy, err)
		} else {
			rig.Check(t, fail.KindOf(err) == fail.Held && strings.Contains(err.Error(), "policy.yaml is not allowed: policy, 12 bytes"), "%v", err)
		}
	}
}
