// Package schedules keeps the schedules of a project: the file .nbs/schedules.yaml, which a person
// writes, and in .nbs/schedules the progress of each entry, so that a restart neither skips nor
// repeats a run.
//
//   - The file decides what is run, so it counts with the user's seal; see package allowed.
//   - The progress is written durably before a run is handed over, by the holder of the right to
//     run schedules. Any process may read it. It carries the user's seal: a file that came with a
//     project must not say what has run. Damaged progress is an error that names file and remedy.
//
// The package knows files and seals. It neither plans nor runs, and must not import what does.
package schedules

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/sealed"
)

const (
	// Folder holds the progress of the entries, below .nbs.
	Folder = "schedules"
	// Name is the file of the schedules within the project, by which it is sealed.
	Name = ".nbs/" + fileName

	fileName  = "schedules.yaml"
	lastsName = "last.json"

	fileLimit = 1 << 18 // bytes
)

// Schedules are those of one project.
type Schedules struct{ nbs *sealed.Folder }

// In returns the schedules of the .nbs folder of a project.
func In(nbs *sealed.Folder) *Schedules { return &Schedules{nbs} }

// Path returns the absolute path of the file.
func (s *Schedules) Path() string { return s.nbs.Path(fileName) }

// Text returns the content of the file, unchecked. Errors: NotFound when it does not exist; BadInput when
// others can write it.
func (s *Schedules) Text() ([]byte, error) {
	text, err := s.nbs.Read("", fileName, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Errorf(fail.NotFound, "there are no schedules: %s does not exist", human.Quote(s.Path())).
			Hint("to see its format: nbs-worker help schedule")
	}
	if err != nil && fail.KindOf(err) == fail.Failed {
		return nil, fail.Errorf(fail.BadInput, "%s cannot be read: %w", human.Quote(s.Path()), err)
	}
	return text, err
}

// Last is the progress of an entry.
type Last struct {
	When   string    `json:"when"`   // the times of the entry in words; a change restarts the count
	Passed time.Time `json:"passed"` // its times up to here are handled: they ran, or were skipped

	// Of the last run that was handed over; zero before the first.
	ScheduledFor time.Time `json:"scheduled_for,omitzero"`
	StartedAt    time.Time `json:"started_at,omitzero"`
	Done         bool      `json:"done"`

	Waiting time.Time `json:"waiting,omitzero"` // the time whose run waits for the end of the last one

	// Of the times since the last run was handed over: how many were skipped because it was not over, and the last of them.
	Skipped   int       `json:"skipped,omitempty"`
	SkippedTo time.Time `json:"skipped_to,omitzero"`

	// How often the clock was set back over times that are not handled yet for that reason. They come again.
	Back int `json:"back,omitempty"`
}

// Running reports whether the last run is not known to be over.
func (l Last) Running() bool { return !l.ScheduledFor.IsZero() && !l.Done }

// kept is the file with the progress of all entries.
type kept struct {
	Entries map[string]Last `json:"entries"`
	Seal    string          `json:"seal"`
}

func (k *kept) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "scheduled", Place: Folder + "/" + lastsName, Content: k.Entries, Field: "entries", Seal: &k.Seal}
}

// Remember records the progress of the entries, durably.
func (s *Schedules) Remember(entries map[string]Last) error {
	if err := s.nbs.Put(Folder, lastsName, &kept{Entries: entries}, fileLimit); err != nil {
		return fmt.Errorf("record which schedules ran: %w", err)
	}
	return nil
}

// Recall returns the progress of the entries; empty before the first run. Errors: as of
// [sealed.Folder.Refused].
func (s *Schedules) Recall() (map[string]Last, error) {
	var read kept
	switch err := s.nbs.Get(Folder, lastsName, &read, fileLimit); {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]Last{}, nil
	case err != nil:
		return nil, s.nbs.Refused(Folder+"/"+lastsName, "", err,
			"look at it, then remove it; schedules then count from now on: rm "+human.ShellWord(s.nbs.Path(Folder, lastsName)))
	}
	return read.Entries, nil
}
