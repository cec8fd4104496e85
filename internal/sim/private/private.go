// Package private is what a private world is made of, for the tests' rig and for the bench: an environment in which
// nothing is the developer's own but PATH, and the end of whatever was started in it.
package private

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Key is the API key that is used. It is made up.
const Key = "sk-ant-nbs-made-up-0123456789abcdef-00"

// configVariable is also by which the processes of a world are known: each world has a folder of its own.
const configVariable = "CLAUDE_CONFIG_DIR="

// World names the places of a world.
type World struct {
	Home      string
	ConfigDir string // CLAUDE_CONFIG_DIR
	TmuxDir   string // TMUX_TMPDIR
	RunDir    string // XDG_RUNTIME_DIR: Claude Code's inbox sockets
	BaseURL   string // ANTHROPIC_BASE_URL
}

// Env is the whole environment for nbs-worker, tmux or claude.
func (w World) Env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + w.Home,
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		configVariable + w.ConfigDir,
		"ANTHROPIC_API_KEY=" + Key,
		"ANTHROPIC_BASE_URL=" + w.BaseURL,
		"TMUX_TMPDIR=" + w.TmuxDir,
		"XDG_RUNTIME_DIR=" + w.RunDir,
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_INSTALLATION_CHECKS=1", // 2.1.197 warns when it was not installed by its own installer
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", // each start would try git over ssh
	}
	if os.Geteuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // without it root may not bypass permissions
	}
	return env
}

// Kill kills the processes that were started with this world's environment, and says how many there were. The handle
// is taken before the look, so that it cannot come to name another process.
func (w World) Kill() int {
	mark := []byte(configVariable + w.ConfigDir + "\x00")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is constant and well formed
	found := 0
	for _, name := range environs {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(name)
		if err == nil && bytes.Contains(environ, mark) {
			found++
			_ = p.Kill() // gone meanwhile is fine
		}
		_ = p.Release()
	}
	return found
}
