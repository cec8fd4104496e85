// Package private makes a private world for the tests' rig and for the bench: its folders, an environment in which
// nothing is the developer's own but PATH, and Claude's configuration. It also kills whatever was started in the world.
package private

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// Key is the API key that is used. It is made up.
	Key = "sk-ant-nbs-made-up" + KeyAnswer
	// KeyAnswer is the key's last 20 characters, under which Claude's configuration keeps the user's answer about it.
	KeyAnswer = "-0123456789abcdef-00"
)

// A process belongs to a world when either variable names a folder of it, since worlds share no folder. There are two,
// because a program may change one of them for what it starts.
const (
	homeVariable   = "HOME="
	configVariable = "CLAUDE_CONFIG_DIR="
)

// World names the places of a world.
type World struct {
	Root      string // the folder of all others; short, because the paths of sockets are bounded
	Home      string
	ConfigDir string // CLAUDE_CONFIG_DIR
	Project   string // a working directory
	TmuxDir   string // TMUX_TMPDIR
	RunDir    string // XDG_RUNTIME_DIR: Claude Code's inbox sockets
	BaseURL   string // ANTHROPIC_BASE_URL
}

// Make makes the folders of a world below root, which must exist. baseURL is the API's.
func Make(root, baseURL string) (World, error) {
	w := World{Root: root, BaseURL: baseURL}
	var err error
	for name, dir := range map[string]*string{
		"home": &w.Home, "config": &w.ConfigDir, "project": &w.Project, "tmux": &w.TmuxDir, "run": &w.RunDir,
	} {
		*dir = filepath.Join(root, name)
		err = errors.Join(err, os.Mkdir(*dir, 0o700))
	}
	return w, err
}

// Configuration is the .claude.json of a user of long standing, who trusts the folders with all below them.
func Configuration(trusted ...string) map[string]any {
	projects := map[string]any{}
	for _, folder := range trusted {
		projects[folder] = map[string]any{"hasTrustDialogAccepted": true}
	}
	return map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string][]string{"approved": {KeyAnswer}, "rejected": {}},
		"projects":               projects,
	}
}

// Env is the whole environment for nbs-worker, tmux or claude.
func (w World) Env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		homeVariable + w.Home,
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

// Kill kills the processes that were started with this world's environment, and returns how many there were. It takes
// a handle on a process before it reads the environment, so that a reused pid is not killed.
func (w World) Kill() int {
	home, config := []byte(homeVariable+w.Home+"\x00"), []byte(configVariable+w.ConfigDir+"\x00")
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
		if err == nil && (bytes.Contains(environ, home) || bytes.Contains(environ, config)) {
			found++
			_ = p.Kill() // gone meanwhile is fine
		}
		_ = p.Release()
	}
	return found
}
