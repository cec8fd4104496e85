package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// World is a private place on disk for one test.
type World struct {
	Root      string // short, because the paths of sockets are bounded
	Home      string
	ConfigDir string // CLAUDE_CONFIG_DIR
	Project   string // a working directory
	TmuxDir   string // TMUX_TMPDIR
	RunDir    string // XDG_RUNTIME_DIR: Claude Code's inbox sockets
	BaseURL   string // ANTHROPIC_BASE_URL
}

// NewWorld makes the folders and a configuration that trusts the project. baseURL is the API's, on loopback; when it
// is empty, nothing can be reached. At the test's end every process that has this world's environment is killed.
func NewWorld(t testing.TB, baseURL string) *World {
	t.Helper()
	root, err := os.MkdirTemp("", "nbs")
	if err != nil {
		t.Fatal(err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := &World{Root: root, BaseURL: baseURL}
	for name, dir := range map[string]*string{
		"home": &w.Home, "config": &w.ConfigDir, "project": &w.Project, "tmux": &w.TmuxDir, "run": &w.RunDir,
	} {
		*dir = filepath.Join(root, name)
		if err := os.Mkdir(*dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		endLeftovers(t, w.ConfigDir)
		reportRaces(t, root)
		removeAll(t, root)
	})
	Config(t, w.ConfigDir, ConfigOptions{Trusted: []string{w.Project}})
	return w
}

// removeAll is patient: a program that was just ended may still write its last file.
func removeAll(t testing.TB, dir string) {
	var err error
	if ok, _ := poll(10*time.Second, func() (bool, string) { err = os.RemoveAll(dir); return err == nil, "" }); !ok {
		t.Logf("remove %s: %v", dir, err)
	}
}

// Env is the whole environment for nbs-worker or claude: nothing of the developer's own but PATH. An extra NAME=VALUE
// replaces, an extra NAME removes.
func (w *World) Env(extra ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + w.Home,
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"CLAUDE_CONFIG_DIR=" + w.ConfigDir,
		"ANTHROPIC_API_KEY=" + Key,
		"ANTHROPIC_BASE_URL=" + w.BaseURL,
		"TMUX_TMPDIR=" + w.TmuxDir,
		"GORACE=log_path=" + filepath.Join(w.Root, raceLog),
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
	for _, e := range extra {
		env = with(env, e)
	}
	return env
}

func with(env []string, change string) []string {
	name, _, add := strings.Cut(change, "=")
	var changed []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			changed = append(changed, e)
		}
	}
	if add {
		changed = append(changed, change)
	}
	return changed
}
