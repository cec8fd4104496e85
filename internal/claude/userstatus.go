package claude

import (
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/smallfile"
)

// UserStatusLine is the shell command of the status line that the user has configured for a
// project, in the place of which ours stands; "" without one. As with claude, the settings
// of the project win over the user's own.
func (c Config) UserStatusLine(project string) string {
	files := []string{
		filepath.Join(project, ".claude", "settings.local.json"),
		filepath.Join(project, ".claude", "settings.json"),
		filepath.Join(c.dir, "settings.json"),
	}
	if project == "" {
		files = files[2:]
	}
	for _, file := range files {
		if command, configured := statusLineOf(file); configured {
			return command
		}
	}
	return ""
}

// statusLineOf reads a settings file. One that cannot be read configures nothing.
func statusLineOf(file string) (command string, configured bool) {
	text, err := smallfile.Read(file, settingsLimit)
	if err != nil {
		return "", false
	}
	var settings struct {
		StatusLine *struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	err = json.Unmarshal(text, &settings, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || settings.StatusLine == nil || settings.StatusLine.Type != "command" {
		return "", false
	}
	return settings.StatusLine.Command, true
}
