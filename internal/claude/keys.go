package claude

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/platform/smallfile"
)

// Rebound is a key that nbs-worker presses in Claude's prompt, and that the user has given another meaning.
type Rebound struct{ Key, Action string }

// Keys that are pressed in Claude's prompt.
const (
	KeySubmit    = "enter"
	KeyInterrupt = "escape"
)

var usualActions = map[string]string{KeySubmit: "chat:submit", KeyInterrupt: "chat:cancel"}

// KeybindingsFile returns the path of the file in which the user rebinds keys.
func (c Config) KeybindingsFile() string { return filepath.Join(c.dir, "keybindings.json") }

// Rebound returns those of the keys that the user has given another meaning. A file that cannot be read gives none.
func (c Config) Rebound(keys ...string) (all []Rebound) {
	text, err := smallfile.Read(c.KeybindingsFile(), settingsLimit)
	if err != nil {
		return nil
	}
	var file struct {
		Bindings []struct {
			Context  string             `json:"context"`
			Bindings map[string]*string `json:"bindings"` // nil: the key does nothing
		} `json:"bindings"`
	}
	if json.Unmarshal(text, &file, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	now := map[string]string{}
	for _, block := range file.Bindings { // the last one counts
		if block.Context != "Chat" {
			continue
		}
		for key, action := range block.Bindings {
			if now[plainKey(key)] = "nothing"; action != nil {
				now[plainKey(key)] = *action
			}
		}
	}
	for _, key := range keys {
		if action, is := now[key]; is && action != usualActions[key] {
			all = append(all, Rebound{Key: key, Action: action})
		}
	}
	return all
}

// plainKey returns a key's name in the form of Claude's own bindings.
func plainKey(key string) string {
	key = strings.ToLower(strings.TrimSpace(key))
	for name, others := range map[string][]string{KeySubmit: {"return"}, KeyInterrupt: {"esc"}} {
		if slices.Contains(others, key) {
			return name
		}
	}
	return key
}
