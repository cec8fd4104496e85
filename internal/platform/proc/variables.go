package proc

import (
	"bytes"

	"nbs-worker/internal/agent"
)

// Environ returns the environment with which a process was started, NAME=VALUE.
func Environ(pid int) ([]string, error) {
	data, err := readProc(pid, "environ")
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return splitArgs(data), nil
}

// EnvironOf returns the environment with which a process was started, or nil if it has ended.
func EnvironOf(id agent.Identity) []string {
	env, err := Environ(id.PID)
	if err != nil || !IsAlive(id) {
		return nil
	}
	return env
}

// Variable reads a variable from the environment with which a process was started.
func Variable(pid int, name string) (string, bool) {
	environ, err := readProc(pid, "environ")
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
