package trust

import (
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
)

// Home is the user's folder for what no project may decide and no agent may reach: the key,
// kept transcripts, the heads of journals. It is made by whoever writes to it first.
type Home string

// HomeVariable names the folder to launchers: the environment of a tmux server is that of
// whoever started it.
const HomeVariable = "NBS_STATE"

// HomeOf is $XDG_STATE_HOME/nbs-worker, or ~/.local/state/nbs-worker, by an environment.
// Errors: Unfit when it names neither.
func HomeOf(env []string) (Home, error) {
	if dir := variable(env, HomeVariable); filepath.IsAbs(dir) {
		return Home(filepath.Clean(dir)), nil
	}
	if dir := variable(env, "XDG_STATE_HOME"); filepath.IsAbs(dir) { // its specification says to ignore a relative path
		return Home(filepath.Join(dir, "nbs-worker")), nil
	}
	if dir := variable(env, "HOME"); filepath.IsAbs(dir) {
		return Home(filepath.Join(dir, ".local", "state", "nbs-worker")), nil
	}
	return "", agent.Errorf(agent.Unfit, "there is no folder for the user's state: neither XDG_STATE_HOME nor HOME is an absolute path").
		Hint("name one: export XDG_STATE_HOME=/path/of/yours")
}

// Path is the path of what is in the folder.
func (h Home) Path(parts ...string) string {
	return filepath.Join(append([]string{string(h)}, parts...)...)
}

// make makes the folder, private, with those above it.
func (h Home) make() error {
	if err := os.MkdirAll(filepath.Dir(string(h)), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(string(h), 0o700)
	if os.IsExist(err) {
		return nil
	}
	return err
}

// variable is the value of a variable in an environment; of several the last counts, as for
// the programs that are started with it.
func variable(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
