package e2e

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/creack/pty"
)

// What needs a terminal gets a real one.

// Console is a terminal in which one command runs.
type Console struct {
	*Team
	Cmd  *exec.Cmd
	Pty  *os.File
	Seen LockedBuffer
	Done chan struct{}
}

func (m *Team) Console(cmd *exec.Cmd) *Console {
	m.Helper()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	m.Must(err)
	return m.Watch(cmd, terminal)
}

// Watch reads what a terminal shows.
func (m *Team) Watch(cmd *exec.Cmd, terminal *os.File) *Console {
	c := &Console{Team: m, Cmd: cmd, Pty: terminal, Done: make(chan struct{})}
	go func() {
		defer close(c.Done)
		_, _ = io.Copy(&c.Seen, terminal)
	}()
	m.Cleanup(func() {
		_ = c.Cmd.Process.Kill()
		_ = terminal.Close()
		<-c.Done
	})
	return c
}

func (c *Console) MustShow(words string) {
	c.Helper()
	c.WaitFor("the terminal shows "+words, func() (bool, string) { return strings.Contains(c.Seen.String(), words), c.Seen.String() })
}

// What lies in a project decides nothing by itself.

// Allow has a person look at what a record would run, and say yes.
func (m *Team) Allow(handle string) {
	m.Helper()
	c := m.Console(m.Command([]string{"allow", handle}))
	c.MustShow("allow " + handle + "? [y/N] ")
	c.Types("y\n")
	err := c.Cmd.Wait()
	<-c.Done
	if err != nil {
		m.Fatalf("allow %s: %v\n%s", handle, err, c.Seen.String())
	}
}

func (c *Console) Types(text string) {
	c.Helper()
	if _, err := c.Pty.WriteString(text); err != nil {
		c.Fatal(err)
	}
}

func Encoded(m *Team, value any) string {
	m.Helper()
	text, err := json.Marshal(value)
	m.Must(err)
	return string(text)
}
