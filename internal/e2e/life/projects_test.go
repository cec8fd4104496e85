package life

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// inOther runs a command in a project beside the team's own, which it makes.
func (m *team) inOther(name string, args ...string) (project string) {
	m.Helper()
	project = m.Folder(name)
	m.OK(append([]string{"--root", project}, args...)...)
	return project
}

// listed is a row of list --all-projects --json.
type listed struct {
	Project, Handle, State string
	Error                  *struct{ Message string }
}

func (m *team) listEvery(code int) []listed {
	m.Helper()
	r := m.NBS("list", "--all-projects", "--json")
	rig.Equal(m, r.Code, code, "the exit code of list --all-projects, which said %s", r.Stderr)
	var rows []listed
	m.Must(json.Unmarshal([]byte(r.Stdout), &rows))
	return rows
}

// two makes a second project, with an agent in each.
func two(m *team) (other string) {
	m.Helper()
	m.OK("spawn", "alice")
	other = m.inOther("other", "spawn", "bob", "--trust")
	m.WaitState("alice", "idle")
	m.WaitFor("bob is idle", func() (bool, string) {
		r := m.NBS("--root", other, "list")
		return strings.HasPrefix(r.Stdout, "bob\tidle\t"), r.String()
	})
	return other
}

func TestListShowsTheAgentsOfAllProjects(t *testing.T) {
	m := standIn(t)
	other := two(m)
	for _, dir := range []string{m.World.Project, other, m.Folder("elsewhere")} {
		m.Dir = dir
		want := []listed{{Project: other, Handle: "bob", State: "idle"}, {Project: m.World.Project, Handle: "alice", State: "idle"}}
		rig.Same(t, "the rows in "+dir, want, m.listEvery(0))
	}
	lines := strings.Split(strings.TrimSpace(m.OK("list", "--all-projects", "--usage")), "\n")
	rig.Equal(t, len(lines), 2, "lines")
	for i, project := range []string{other, m.World.Project} {
		fields := strings.Split(lines[i], "\t")
		rig.Check(t, len(fields) == 17 && fields[16] == project, "the line %q", lines[i])
	}
	c := m.Console(m.Command([]string{"list", "--all-projects"}))
	c.MustShow(m.World.Project + "\x1b[0m\r\n")
	m.Must(c.Cmd.Wait())
	<-c.Done
	shown := c.Seen.String()
	at := func(words string) int { return strings.Index(shown, words) }
	rig.Check(t, at(other) >= 0 && at(other) < at("bob ") && at("bob ") < at(m.World.Project) && at(m.World.Project) < at("alice "), "the terminal shows\n%s", shown)
}

func TestAProjectThatIsGoneIsNamedUntilItIsForgotten(t *testing.T) {
	m := standIn(t)
	other := two(m)
	m.OK("--root", other, "dismiss", "bob")
	m.Must(os.RemoveAll(other))
	for range 2 {
		r := m.NBS("list", "--all-projects")
		rig.Check(t, r.Code == 0 && strings.Count(r.Stderr, "\n") == 1 && strings.Contains(r.Stderr, "is gone; forget it") && strings.HasPrefix(r.Stdout, "alice\t"), "%s", r)
	}
	m.Refused(4, "name folders", "project", "forget")
	rig.Check(t, strings.Contains(m.OK("project", "list"), other+"\tgone\t-\t"), "project list names it")
	_, command, _ := strings.Cut(m.NBS("list", "--all-projects").Stderr, "mounted: ")
	paste := exec.Command("sh", "-c", command)
	paste.Dir, paste.Env = m.Dir, m.Env
	m.MustRun(paste)
	rig.Equal(t, m.NBS("list", "--all-projects").Stderr, "", "stderr once it is forgotten")
	m.Refused(2, "is not known", "project", "forget", other)
	for _, name := range []string{"b", "c"} {
		project := m.inOther(name, "spawn", "carol", "--trust")
		m.OK("--root", project, "dismiss", "carol")
		m.Must(os.RemoveAll(project))
	}
	rig.Check(t, strings.Contains(m.NBS("list", "--all-projects").Stderr, "2 projects are gone; to see them: nbs-worker project list"), "several are one line")
	m.OK("project", "forget", "--gone")
	rig.Equal(t, m.NBS("list", "--all-projects").Stderr, "", "stderr once they are forgotten")
	var known []struct{ Path, State string }
	m.Decode(&known, "project", "list", "--json")
	rig.Check(t, len(known) == 1 && known[0].Path == m.World.Project && known[0].State == "there", "known: %v", known)
}

// One damaged record, or a project that another user owns, hides nothing else.
func TestAProjectThatCannotBeReadHidesNoOther(t *testing.T) {
	m := standIn(t)
	other := two(m)
	m.Must(os.WriteFile(filepath.Join(other, ".nbs/sessions/bob.json"), []byte("{"), 0o600))
	theirs := m.inOther("theirs", "spawn", "carol", "--trust")
	m.OK("--root", theirs, "stop", "carol")
	m.Must(os.Chown(filepath.Join(theirs, ".nbs"), rig.Nobody, -1))
	rows := m.listEvery(7)
	rig.Equal(t, len(rows), 3, "rows")
	rig.Same(t, "the damaged record", rows[0], listed{Project: other, Handle: "bob", State: "unknown"})
	rig.Same(t, "the other project", rows[1], listed{Project: m.World.Project, Handle: "alice", State: "idle"})
	rig.Check(t, rows[2].Project == theirs && rows[2].Error != nil && strings.Contains(rows[2].Error.Message, "belongs to user id"), "it is not read: %+v", rows[2].Error)
	m.OK("--root", other, "pause")
	r := m.NBS("list", "--all-projects")
	rig.Check(t, strings.Contains(r.Stderr, "to end it: nbs-worker --root "+other+" unpause"), "the pause of the other project: %s", r)
	for _, words := range []string{"bob", theirs, "nbs-worker --root " + other + " "} {
		rig.Check(t, strings.Contains(r.Stderr, words), "stderr does not name %s:\n%s", words, r.Stderr)
	}
	rig.Check(t, r.Code == 7 && !strings.Contains(r.Stdout, "carol") && strings.Contains(r.Stdout, "-\tunknown\tthe project cannot be read\t") && strings.Contains(r.Stdout, "\t"+theirs+"\n"), "%s", r)
	for line := range strings.Lines(r.Stdout) {
		rig.Equal(t, strings.Count(line, "\t"), 13, "separators of the line %q", line)
	}
	r = m.NBS("project", "list")
	rig.Check(t, r.Code == 7 && strings.Contains(r.Stdout, theirs+"\tclosed\t-\t"), "%s", r)
}

func TestAMovedProjectIsNamedWithItsNewPlace(t *testing.T) {
	m := standIn(t)
	other := two(m)
	m.OK("--root", other, "stop", "bob")
	now := filepath.Join(m.World.Root, "moved")
	m.Must(os.Rename(other, now))
	r := m.NBS("--root", now, "list", "--all-projects") // from here on it is known there
	rig.Check(t, strings.Contains(r.Stderr, "was moved to \""+now+"\"; forget the old place: nbs-worker project forget "), "%s", r)
	rig.Check(t, strings.Contains(r.Stdout, "\t"+now+"\n"), "%s", r)
}

func TestAnAgentSeesNoOtherProject(t *testing.T) {
	m := standIn(t)
	two(m)
	m.MustDenyIn(m.Session("alice"), "agent alice", map[string]string{
		"nbs-worker list --all-projects":   "only a person may see the agents of all projects",
		"nbs-worker project list":          "only a person may see the user's projects",
		"nbs-worker project forget --gone": "only a person may forget a project",
	})
}
