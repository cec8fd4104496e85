package claude

import (
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
)

// ConfigDirVariable names another folder for Claude's configuration.
const ConfigDirVariable = "CLAUDE_CONFIG_DIR"

// Config locates the state of one installation of Claude Code.
type Config struct {
	dir  string // sessions/, projects/, history.jsonl
	file string // .claude.json
}

// ConfigAt returns the configuration in dir, or this user's default one if dir is "".
func ConfigAt(dir string) (Config, error) {
	if dir != "" {
		return Config{dir: dir, file: filepath.Join(dir, ".claude.json")}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return Config{}, fail.Errorf(fail.Unfit, "no home folder: %w", err).
			Hint("set HOME or %s", ConfigDirVariable)
	}
	return configBelow(home), nil
}

// configBelow returns the default configuration. CLAUDE_CONFIG_DIR=~/.claude is another one: it has .claude.json
// inside the folder.
func configBelow(home string) Config {
	return Config{dir: filepath.Join(home, ".claude"), file: filepath.Join(home, ".claude.json")}
}

// Registry returns the registry of the running sessions.
func (c Config) Registry() live.Registry { return live.RegistryIn(c.dir) }

// ConfigDirIn resolves the CLAUDE_CONFIG_DIR of a process in cwd. It returns "" if dir is empty.
func ConfigDirIn(cwd, dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(cwd, dir)
}

// ConfigUsedBy returns the configuration of a claude in cwd with the given variables.
func ConfigUsedBy(cwd string, variable func(name string) string) (Config, error) {
	if home := variable("HOME"); home != "" && variable(ConfigDirVariable) == "" {
		return configBelow(home), nil
	}
	return ConfigAt(ConfigDirIn(cwd, variable(ConfigDirVariable)))
}

// ConfigOf returns the configuration that an agent's claude uses. A spec of the original tools names none; then the
// caller's environment decides.
func ConfigOf(spec *agent.Spec, caller []string) (Config, error) {
	dir := spec.ConfigDir
	if spec.Schema == 0 {
		for _, entry := range caller {
			if value, ok := strings.CutPrefix(entry, ConfigDirVariable+"="); ok && value != "" {
				dir, _ = filepath.Abs(value)
			}
		}
	}
	return ConfigAt(dir)
}
