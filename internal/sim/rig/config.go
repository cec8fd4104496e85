package rig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/private"
)

// Key is the API key that tests use. It is made up.
const Key = private.Key

// ConfigOptions is what a Claude configuration already holds. The zero value is that of a user of long standing, who
// trusts no folder.
type ConfigOptions struct {
	Trusted       []string // folders, with all below them
	KeyUnanswered bool     // the user was never asked about the API key
	KeyRejected   bool     // the user said no to it
	NotOnboarded  bool
	Settings      string // settings.json; default: none
}

// Config writes a Claude configuration folder.
func Config(t testing.TB, dir string, opts ConfigOptions) {
	t.Helper()
	config := private.Configuration(opts.Trusted...)
	config["hasCompletedOnboarding"] = !opts.NotOnboarded
	switch {
	case opts.KeyUnanswered:
		config["customApiKeyResponses"] = map[string][]string{"approved": {}, "rejected": {}}
	case opts.KeyRejected:
		config["customApiKeyResponses"] = map[string][]string{"approved": {}, "rejected": {private.KeyAnswer}}
	}
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".claude.json"), data)
	if opts.Settings != "" {
		write(t, filepath.Join(dir, "settings.json"), []byte(opts.Settings))
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
