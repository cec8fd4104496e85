package keep

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/archive"
)

// Retention is how near an agent's transcript is to being deleted by Claude, and whether
// the archive keeps it.
type Retention struct {
	Handle    agent.Handle
	SessionID agent.SessionID
	Path      string  // of Claude's transcript; "" when there is none
	AgeDays   float64 // since the last write to it
	Days      float64 // after which Claude deletes it
	Source    string  // the settings that say so; "" for Claude's default
	Kept      archive.Freshness
	Err       error // why nothing is known
}

// LeftDays is how long Claude will keep the transcript; negative when the next start of any
// claude may delete it.
func (r Retention) LeftDays() float64 { return r.Days - r.AgeDays }

// Retentions looks at the transcripts of all agents and changes nothing.
func (k *Keeper) Retentions(context.Context) ([]Retention, error) {
	handles, err := k.Store.Handles()
	if err != nil {
		return nil, err
	}
	all := make([]Retention, len(handles))
	for i, handle := range handles {
		all[i] = Retention{Handle: handle}
		all[i].Err = k.retention(&all[i])
	}
	return all, nil
}

func (k *Keeper) retention(out *Retention) error {
	r, err := k.Store.Load(out.Handle)
	if err != nil {
		return err
	}
	config, err := k.ConfigOf(&r)
	if err != nil {
		return err
	}
	out.SessionID = r.SessionID
	out.Days, out.Source = config.CleanupDays(r.LaunchCwd())
	transcript, found, err := config.Transcript(r.SessionID)
	if err != nil {
		return err
	}
	if found {
		out.Path, out.AgeDays = transcript.Path, k.Now().Sub(transcript.Modified).Hours()/(24*time.Hour).Hours()
	}
	out.Kept, err = k.Store.Archive().Freshness(r.SessionID, out.Path)
	return err
}
