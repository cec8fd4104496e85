package dash

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// The table on a terminal follows the agents, and leaves the terminal in order.
func TestListWatchOnATerminal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WaitState("alpha", "idle")
	d := m.openWith("list --watch", 100, 12)
	d.shows("HANDLE", "alpha", "idle")
	m.spawnAsking("beta")
	screen := d.shows("beta", "waiting")
	m.Check(strings.Count(screen, "HANDLE") == 1 && strings.HasPrefix(screen, "HANDLE"), "one table:\n%s", screen)
	m.OK("stop", "beta")
	d.shows("beta", "stopped", "not waiting")
	m.OK("dismiss", "beta")
	d.shows("not beta")
	d.desk("resize-window", "-t", "=desk:", "-x", "60", "-y", "12")
	d.shows("alpha")
	d.press("C-c")
	d.shows("left with 130", "alpha")
	d.isPlain()
}

// What does not fit is counted.
func TestListWatchOnALowTerminal(t *testing.T) {
	m := standIn(t)
	for _, handle := range []string{"a", "b", "c", "d", "e", "f"} {
		m.OK("spawn", handle)
	}
	d := m.openWith("list --watch", 100, 5)
	d.shows("HANDLE", "and 4 more lines")
}

// In a pipe each change is a line of JSON, also the end of an agent; and a reader that leaves ends it.
func TestListWatchInAPipe(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WaitState("alpha", "idle")
	w := m.follows("list", "--watch")
	w.says(`"handle":"alpha","state":"idle"`)
	m.OK("send", "alpha", "[[delay 10m]] hello")
	w.says(`"handle":"alpha","state":"busy"`)
	m.OK("dismiss", "alpha")
	w.says(`{"handle":"alpha","dismissed":true}`)
	schemas, err := e2e.Published()
	m.Must(err)
	for line := range strings.Lines(w.seen()) {
		e2e.CheckLine(t, schemas["list-watch"], []string{"nbs-worker", "list", "--watch"}, line)
		m.Check(json.Valid([]byte(line)), "%s", line)
	}
	w.ends(syscall.SIGINT)

	read, write, err := os.Pipe()
	m.Must(err)
	cmd := m.Command([]string{"list", "--watch", "--all-projects", "--json"})
	cmd.Stdout = write
	m.Must(cmd.Start())
	m.Must(write.Close())
	m.Must(read.Close())
	_ = cmd.Wait() // of an agent that needs nobody nothing is ever written
}

// The agents of all projects, each with its own.
func TestListWatchOfAllProjects(t *testing.T) {
	m := standIn(t)
	other := m.Folder("other")
	m.OK("spawn", "alpha")
	m.OK("--root", other, "spawn", "beta", "--trust")
	w := m.follows("list", "--watch", "--all-projects", "--json")
	w.says(`"project":"` + m.World.Project + `","handle":"alpha"`)
	w.says(`"project":"` + other + `","handle":"beta"`)
	m.OK("--root", other, "dismiss", "beta")
	w.says(`{"project":"` + other + `","handle":"beta","dismissed":true}`)
	w.ends(syscall.SIGTERM)
}

// The line says who needs the person; and follows it, while tmux runs it.
func TestStatusLine(t *testing.T) {
	m := standIn(t)
	m.spawnDone("alice")
	m.MustPrint("1 needs you: alice done\n", "status-line")
	m.spawnAsking("bob")
	line := m.OK("status-line")
	m.Check(strings.HasPrefix(line, "2 need you: alice done") && strings.Contains(line, ", bob waits"), "%s", line)
	line = m.OK("status-line", "--all-projects")
	m.Check(strings.HasPrefix(line, "2 need you: project/alice done"), "%s", line)

	w := m.follows("status-line", "--follow")
	w.says("2 need you: alice done")
	m.OK("stop", "bob")
	w.says("1 needs you: alice done")
	m.OK("screen", "alice") // a look
	w.says("\n\n")
	w.ends(syscall.SIGTERM)
}

// A file has the line while the command runs. An agent writes none.
func TestStatusLineInAFile(t *testing.T) {
	m := standIn(t)
	m.spawnDone("alice")
	file := filepath.Join(m.Dir, "line")
	w := m.follows("status-line", "--file", file)
	has := func(line string) {
		t.Helper()
		m.WaitFor("the file has "+line, func() (bool, string) {
			text, _ := os.ReadFile(file)
			return strings.HasPrefix(string(text), line) && strings.HasSuffix(string(text), "\n"), string(text)
		})
	}
	has("1 needs you: alice done")
	info, err := os.Stat(file)
	m.Must(err)
	rig.Equal(t, info.Mode(), fs.FileMode(0o600), "the mode of the file")
	m.OK("screen", "alice") // a look
	has("\n")
	w.ends(syscall.SIGTERM)
	_, err = os.Stat(file)
	m.Check(errors.Is(err, fs.ErrNotExist), "the file is left: %v", err)
	rig.Equal(t, w.seen(), "", "what is printed")
	m.MustDenyIn(m.Session("alice"), "agent alice", map[string]string{"nbs-worker status-line --file line": "only a person may keep a line in a file"})
	_, err = os.Stat(file)
	m.Check(errors.Is(err, fs.ErrNotExist), "an agent has written a file: %v", err)
}

// A file that a person has written stays, also if it is written while the command runs; what a killed command left is replaced.
func TestStatusLineLeavesAPersonsFile(t *testing.T) {
	m := standIn(t)
	m.spawnDone("alice")
	file := filepath.Join(m.Dir, "notes")
	link := filepath.Join(m.Dir, "link")
	m.Must(os.Symlink("notes", link))
	has := func(text string) {
		t.Helper()
		found, err := os.ReadFile(file)
		m.Must(err)
		rig.Equal(t, string(found), text, "what is in the file")
	}
	refused := func(w *e2e.Running) {
		t.Helper()
		m.WaitFor("the command has ended", func() (bool, string) { return e2e.Dead(w.Process.Pid), "" })
		r := w.End()
		m.Check(r.Code == 5, "%s", r)
		m.MustSay(r.Stderr, "exists, and status-line did not write it")
	}
	for _, text := range []string{"mine\n", "1 needs you: alice done\nmine\n"} {
		m.Write(file, text)
		refused(m.Begin("status-line", "--file", file))
		has(text)
	}
	refused(m.Begin("status-line", "--file", link))
	refused(m.Begin("status-line", "--file", m.Dir))

	m.Write(file, "3 need you: a waits 3m, b done, c done, …; 1 unknown\n")
	w := m.Begin("status-line", "--file", file)
	m.WaitFor("the file is replaced", func() (bool, string) {
		text, _ := os.ReadFile(file)
		return strings.HasPrefix(string(text), "1 needs you: alice done"), string(text)
	})
	m.Write(file, "mine again\n")
	m.OK("screen", "alice") // a look, which changes the line
	refused(w)
	has("mine again\n")
}

// tmux runs one command for each client, shows what it prints, and starts it again if it is killed.
func TestStatusLineInTmux(t *testing.T) {
	m := standIn(t)
	m.spawnDone("alice")
	d := m.openWith("version", 80, 10)
	d.desk("set-option", "-g", "status-interval", "1")
	d.desk("set-option", "-g", "status-right-length", "60")
	d.desk("set-option", "-g", "status-right", "#("+m.Worker+" --root "+m.Dir+" status-line --follow)")
	c := m.Console(m.tmuxCommand("desk", "attach-session", "-t", "=desk"))
	c.MustShow("1 needs you: alice done")
	pid := func() string {
		out, _ := exec.Command("pgrep", "-f", "^"+m.Worker+" --root "+m.Dir+" status-line").Output()
		return string(out)
	}
	first := pid()
	m.Check(strings.Count(first, "\n") == 1, "commands: %q", first)
	m.Must(exec.Command("kill", "-9", strings.TrimSpace(first)).Run())
	rig.WaitFor(m, "another one runs", func() (bool, string) { now := pid(); return now != "" && now != first, now })
	m.spawnDone("bob")
	c.MustShow("2 need you: alice done, bob done")
	d.desk("kill-server")
	rig.WaitFor(m, "it has ended with tmux", func() (bool, string) { now := pid(); return now == "", now })
}
