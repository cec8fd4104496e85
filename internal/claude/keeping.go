package claude

import (
	"encoding/json"
	"path/filepath"
	"time"

	"nbs-worker/internal/smallfile"
)

// keptByDefault is how long Claude keeps a transcript that nobody writes to.
const keptByDefault = 30 * 24 * time.Hour

// KeepsTranscripts is how long this configuration keeps a transcript after its last
// message. Then Claude deletes it, at the next start of any claude.
func (c Config) KeepsTranscripts() time.Duration {
	const limit = 1 << 20 // bytes
	data, err := smallfile.Read(filepath.Join(c.dir, "settings.json"), limit)
	if err != nil {
		return keptByDefault
	}
	var settings struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	if json.Unmarshal(data, &settings) != nil || settings.Days == nil {
		return keptByDefault
	}
	return time.Duration(*settings.Days * float64(24*time.Hour))
}

// SettingsFile is where a person changes that.
func (c Config) SettingsFile() string { return filepath.Join(c.dir, "settings.json") }
