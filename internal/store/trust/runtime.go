package trust

import (
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/agent"
)

// RuntimeVariable names the folder of [RuntimeOf] to launchers.
const RuntimeVariable = "NBS_RUNTIME"

// RuntimeOf returns the folder for files that last until they are read, such as an environment with its secrets. It
// is $XDG_RUNTIME_DIR/nbs-worker, in memory; a folder in home if XDG_RUNTIME_DIR is not a private folder of this
// user; or "" if home is not known.
func RuntimeOf(env []string, home Home) string {
	if dir := agent.Variable(env, RuntimeVariable); filepath.IsAbs(dir) && (isPrivate(dir) || isPrivate(filepath.Dir(dir))) {
		return filepath.Clean(dir)
	}
	if dir := agent.Variable(env, "XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && isPrivate(dir) {
		return filepath.Join(dir, "nbs-worker")
	}
	if home == "" {
		return ""
	}
	return home.Path("run")
}

// isPrivate reports whether a path is a folder that only this user can reach.
func isPrivate(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	return int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}
