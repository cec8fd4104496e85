package trust

import (
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Home is the user's folder for data that no project may decide and no agent may reach: the key, kept transcripts,
// the heads of journals, where the user's projects are. The first writer creates it.
type Home string

// HomeVariable names the folder to launchers: a tmux server keeps the environment of the process that started it.
const HomeVariable = "NBS_STATE"

// ErrNoHome is the error if the environment names no folder for the user's state.
var ErrNoHome error = fail.Errorf(fail.Unfit, "there is no folder for the user's state: neither XDG_STATE_HOME nor HOME is an absolute path").
	Hint("name one: export XDG_STATE_HOME=/path/of/yours")

// HomeOf returns $XDG_STATE_HOME/nbs-worker, or ~/.local/state/nbs-worker, from an environment. Errors: Unfit when it
// names neither.
func HomeOf(env []string) (Home, error) {
	if dir := agent.Variable(env, HomeVariable); filepath.IsAbs(dir) {
		return Home(filepath.Clean(dir)), nil
	}
	if dir := agent.Variable(env, "XDG_STATE_HOME"); filepath.IsAbs(dir) { // its specification says to ignore a relative path
		return Home(filepath.Join(dir, "nbs-worker")), nil
	}
	if dir := agent.Variable(env, "HOME"); filepath.IsAbs(dir) {
		return Home(filepath.Join(dir, ".local", "state", "nbs-worker")), nil
	}
	return "", ErrNoHome
}

// Path returns the path of what is in the folder.
func (h Home) Path(parts ...string) string {
	return filepath.Join(append([]string{string(h)}, parts...)...)
}

// make creates the folder, private, with its parents.
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
