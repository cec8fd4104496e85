package security

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// under makes nbs-worker run under a shell's preparation, such as "umask 000".
func (m *team) under(preparation string) {
	m.Helper()
	m.Worker = m.Program("nbs-worker", fmt.Sprintf("%s\nexec %s \"$@\"", preparation, m.Worker))
}

// spyOnTmux writes down the arguments and the environment of every tmux that is
// started from now on, however short its life.
func (m *team) spyOnTmux() (seen func() string) {
	m.Helper()
	log := filepath.Join(m.TempDir(), "log")
	m.Env = append(m.Env, m.BeforeTmux(`{ printf '%s\n' "$@"; env; } >>`+log))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil || !bytes.Contains(text, []byte("new-session")) {
			m.Fatalf("the spy saw no start: %v\n%s", err, text)
		}
		return string(text)
	}
}
