package keep

import (
	"cmp"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/archive"
)

// Retention is how soon Claude may delete an agent's transcript, and whether the archive keeps it.
type Retention struct {
	Path     string  // of Claude's transcript; "" if it does not exist
	LeftDays float64 // negative if the next start of any claude may delete it
	Settings string  // the file that sets the period, or where a person would set it
	Kept     archive.Freshness
}

// RetentionOf looks at the transcript of an agent, and changes nothing.
func (k *Keeper) RetentionOf(r *agent.Record) (Retention, error) {
	config, err := k.Project.ConfigOf(r)
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
		found.Path, found.LeftDays = file.Path, days-k.Project.Now().Sub(file.Modified).Hours()/(24*time.Hour).Hours()
	}
	found.Kept, err = k.Project.Store.Archive().Freshness(r.SessionID, found.Path)
	return found, err
}
