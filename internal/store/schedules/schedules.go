// Package schedules keeps what is run when: the file .nbs/schedules.yaml, which a person writes, and
// in .nbs/schedules how far each of its entries came, so that a restart neither skips nor repeats.
//
//   - The file decides what is run, so it counts with the user's seal; see package allowed.
//   - How far entries came is written durably before a run is handed over, by who has the right to
//     run schedules. It is read by anyone. It carries the user's seal: what came with a project
//     does not say what has run already. Damaged, it is an error that names the file and the remedy.
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
	// Folder holds how far the entries came, below .nbs.
	Folder = "schedules"
	// Name is the file of the schedules within the project, by which it is sealed.
	Name = ".nbs/" + fileName

	fileName  = "schedules.yaml"
	lastsName = "last.json"

	fileLimit = 1 << 18 // bytes
)

// Schedules are those of one project.
type Schedules struct{ nbs *sealed.Folder }

// In are the schedules of the .nbs folder of a project.
func In(nbs *sealed.Folder) *Schedules { return &Schedules{nbs} }

// Path is the absolute path of the file.
func (s *Schedules) Path() string { return s.nbs.Path(fileName) }

// Text is the file as it is. Errors: NotFound when there is none; BadInput where others can write it.
func (s *Schedules) Text() ([]byte, error) {
	text, err := s.nbs.Read("", fileName, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Errorf(fail.NotFound, "there are no schedules: no file %s", human.Quote(s.Path())).
			Hint("what it may say: nbs-worker schedule --help")
	}
	if err != nil && fail.KindOf(err) == fail.Failed {
		return nil, fail.Errorf(fail.BadInput, "%s cannot be read: %w", human.Quote(s.Path()), err)
	}
	return text, err
}

// Last is how far an entry came.
type Last struct {
	When   string    `json:"when"`   // the times of the entry in words; when they change, it counts anew
	Passed time.Time `json:"passed"` // for all its times up to here it is decided whether they run

	// Of the last run that was handed over; zero before the first.
	ScheduledFor time.Time `json:"scheduled_for,omitzero"`
	StartedAt    time.Time `json:"started_at,omitzero"`
	Done         bool      `json:"done"`

	Waiting time.Time `json:"waiting,omitzero"` // the time whose run waits for the end of the last one
}

// Running reports whether the last run is not known to be over.
func (l Last) Running() bool { return !l.ScheduledFor.IsZero() && !l.Done }

// kept is the file of how far they came.
type kept struct {
	Entries map[string]Last `json:"entries"`
	Seal    string          `json:"seal"`
}

func (k *kept) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "scheduled", Place: Folder + "/" + lastsName, Content: k.Entries, Seal: &k.Seal}
}

// Remember writes down how far the entries came, durably.
func (s *Schedules) Remember(entries map[string]Last) error {
	if err := s.nbs.Put(Folder, lastsName, &kept{Entries: entries}, fileLimit); err != nil {
		return fmt.Errorf("write down what ran: %w", err)
	}
	return nil
}

// Recall tells how far the entries came; nothing before the first run. Errors: as of [sealed.Folder.Refused].
func (s *Schedules) Recall() (map[string]Last, error) {
	var read kept
	switch err := s.nbs.Get(Folder, lastsName, &read, fileLimit); {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]Last{}, nil
	case err != nil:
		return nil, s.nbs.Refused(Folder+"/"+lastsName, "", err,
			"without it each schedule counts from then on: rm "+human.ShellWord(s.nbs.Path(Folder, lastsName)))
	}
	return read.Entries, nil
}
