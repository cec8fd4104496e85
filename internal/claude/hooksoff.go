package claude

import (
	"path/filepath"
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/platform/smallfile"
)

// HooksOff returns why claude runs no hook of ours in a folder: "disableAllHooks in /home/ann/.claude/settings.json".
// It returns "" if claude runs them. A policy of the machine comes first; then, as in claude, the file that settles it
// and takes precedence over the others.
func (c Config) HooksOff(folder string, extraArgs []string) string {
	return hooksOff(policyFolder(), c.settingsFiles(folder, extraArgs))
}

func hooksOff(policies string, files []string) string {
	dropped, _ := filepath.Glob(filepath.Join(policies, "managed-settings.d", "*.json")) // the pattern is well formed
	for _, file := range append([]string{filepath.Join(policies, "managed-settings.json")}, dropped...) {
		switch said := hookSettingsOf(file); {
		case said.Disable != nil && *said.Disable:
			return "disableAllHooks in " + file
		case said.ManagedOnly:
			return "allowManagedHooksOnly in " + file
		}
	}
	for _, file := range files {
		if said := hookSettingsOf(file); said.Disable != nil {
			if *said.Disable {
				return "disableAllHooks in " + file
			}
			break
		}
	}
	return ""
}

// policyFolder returns the folder in which an administrator sets rules for all users.
func policyFolder() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// hookSettings say whether hooks run.
type hookSettings struct {
	Disable     *bool `json:"disableAllHooks"`
	ManagedOnly bool  `json:"allowManagedHooksOnly"` // of a policy: only its own hooks run
}

// hookSettingsOf reads a settings file. A file that cannot be read settles nothing.
func hookSettingsOf(file string) (said hookSettings) {
	text, err := smallfile.Read(file, settingsLimit)
	if err != nil || json.Unmarshal(text, &said, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return hookSettings{}
	}
	return said
}
