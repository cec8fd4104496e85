package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
)

// WritePage puts a page into the project.
func (m *Team) WritePage(name, text string) {
	m.Helper()
	folder := filepath.Join(m.World.Project, "runbooks")
	m.Must(os.MkdirAll(folder, 0o700))
	m.Must(os.WriteFile(filepath.Join(folder, name+".md"), []byte(text), 0o600))
}

// AllowPage has a person look at a page of the project, and say yes.
func (m *Team) AllowPage(name string) *Console {
	m.Helper()
	c := m.Console(m.Command([]string{"allow", "--runbook", name}))
	c.MustShow("allow the runbook " + name + "? [y/N] ")
	c.Types("y\n")
	if err := c.Cmd.Wait(); err != nil {
		m.Fatalf("%v\n%s", err, c.Seen.String())
	}
	return c
}

func (m *Team) MustBeWell(handle string) {
	m.Helper()
	s := m.Session(handle)
	m.Check(s.Running, "%+v", s)
}

// The pages are executed, end to end, where they are meant to be used.

// Shell runs commands as a person at a prompt would, in the project folder.
func (m *Team) Shell(commands string) string {
	m.Helper()
	cmd := exec.Command("sh", "-eu", "-c", commands)
	cmd.Dir, cmd.Env = m.World.Project, m.Env
	r := m.Finish(cmd)
	if r.Code != 0 {
		m.Fatalf("%s\n%s", commands, r)
	}
	return r.Stdout
}
