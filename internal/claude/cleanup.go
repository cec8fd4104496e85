package claude

import (
	"encoding/json"
	"path/filepath"

	"nbs-worker/internal/smallfile"
)

// DefaultCleanupDays is after how many days without a write Claude deletes a transcript.
const DefaultCleanupDays = 30

// CleanupDays is cleanupPeriodDays as it holds for a working directory, and the file that
// says so: the project's own settings go before the user's. Source is "" for the default.
// A file that cannot be read says nothing.
func (c Config) CleanupDays(cwd string) (days float64, source string) {
	for _, path := range []string{
		filepath.Join(cwd, ".claude", "settings.local.json"),
		filepath.Join(cwd, ".claude", "settings.json"),
		c.SettingsFile(),
	} {
		data, err := smallfile.Read(path, settingsLimit)
		var settings struct {
			Days *float64 `json:"cleanupPeriodDays"`
		}
		if err == nil && json.Unmarshal(data, &settings) == nil && settings.Days != nil && *settings.Days >= 0 {
			return *settings.Days, path
		}
	}
	return DefaultCleanupDays, ""
}
