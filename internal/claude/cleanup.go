package claude

import (
	"encoding/json"
	"path/filepath"

	"nbs-worker/internal/platform/smallfile"
)

// DefaultCleanupDays is the number of days without a write after which Claude deletes a transcript.
const DefaultCleanupDays = 30

// CleanupDays returns cleanupPeriodDays for a working directory, and the settings file that sets it. The project's
// own files take precedence over the user's. source is "" for the default. A file that cannot be read is ignored.
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
