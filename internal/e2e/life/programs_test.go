package life

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// murderous puts a tmux first in the PATH that counts its calls, and kills a process
// before one of them. It returns the change of the environment. A call that asks no server is
// not counted: it is not waited for, and would kill at any time.
func (m *team) murderous(victim, beforeCall int) (env []string, calls func() int) {
	m.Helper()
	log := filepath.Join(m.TempDir(), "calls")
	path := m.BeforeTmux(fmt.Sprintf(`case "$*" in *-V) ;; *)
	echo "$*" >>%[1]s
	if [ "$(wc -l <%[1]s)" -eq %[2]d ]; then
		kill -KILL %[3]d
		while [ -e /proc/%[3]d/exe ]; do :; done
	fi
esac`, log, beforeCall, victim))
	return []string{path}, func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "\n")
	}
}
