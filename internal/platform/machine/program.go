package machine

import (
	"bytes"
	"path/filepath"

	"nbs-worker/internal/agent"
)

// Cmdline returns the arguments of a process; those of a zombie are empty.
func (m *Machine) Cmdline(pid int) ([]string, error) {
	data, err := m.kernel.Arguments(pid)
	return words(data), err
}

// Environ returns the environment with which a process was started, NAME=VALUE.
func (m *Machine) Environ(pid int) ([]string, error) {
	data, err := m.kernel.Environ(pid)
	return words(data), err
}

// words splits what ends with a NUL each.
func words(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	var all []string
	for word := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte{0}), []byte{0}) {
		all = append(all, string(word))
	}
	return all
}

// EnvironOf returns the environment with which a process was started, or nil if it has ended.
func (m *Machine) EnvironOf(id agent.Identity) []string {
	env, err := m.Environ(id.PID)
	if err != nil || !m.IsAlive(id) {
		return nil
	}
	return env
}

// Variable reads a variable from the environment with which a process was started. ok is false also if the
// environment cannot be read.
func (m *Machine) Variable(pid int, name string) (value string, ok bool) {
	environ, err := m.kernel.Environ(pid)
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// Name returns the kernel's name of a process, at most 15 bytes, or "" if it has ended.
func (m *Machine) Name(pid int) string {
	stat, _ := m.kernel.Stat(pid)
	return stat.Name
}

// Program returns the name of the file that a process runs, also of one that was replaced or removed since. It
// returns "" if that is not known.
func (m *Machine) Program(pid int) string {
	path, err := m.kernel.Program(pid)
	if err != nil {
		return ""
	}
	return filepath.Base(path)
}

// Cwd returns the working directory of a process.
func (m *Machine) Cwd(pid int) (string, error) { return m.kernel.Folder(pid) }

// Terminal returns the terminal of a process in its usual form, "pts/3", or "".
func (m *Machine) Terminal(pid int) string {
	stat, _ := m.kernel.Stat(pid)
	return stat.Terminal
}
