package keep

import (
	"cmp"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/archive"
)

// Retention is how near an agent's transcript is to being deleted by Claude, and whether
// the archive keeps it.
type Retention struct {
	Path     string  // of Claude's transcript; "" when there is none
	LeftDays float64 // negative when the next start of any claude may delete it
	Settings string  // the file that sets the period, or in which a person would
	Kept     archive.Freshness
}

// RetentionOf looks at the transcript of an agent and changes nothing.
func (k *Keeper) RetentionOf(r *agent.Record) (Retention, error) {
	config, err := k.ConfigOf(r)
	if err != nil {
		return Retention{}, err
	}
	days, source := config.CleanupDays(r.LaunchCwd())
	found := Retention{Settings: cmp.Or(source, config.SettingsFile())}
	file, there, err := config.TranscriptOf(r)
	if err != nil {
		return Retention{}, err
	}
	if there {
		found.Path, found.LeftDays = file.Path, days-k.Now().Sub(file.Modified).Hours()/(24*time.Hour).Hours()
	}
	found.Kept, err = k.Store.Archive().Freshness(r.SessionID, found.Path)
	return found, err
}
