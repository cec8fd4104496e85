package archive

import (
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Freshness is how a kept transcript compares with the original.
type Freshness string

// The ways in which an original can be kept.
const (
	NotKept   Freshness = "no"
	Linked    Freshness = "link"       // it is the original's second name
	CopyFresh Freshness = "copy"       // a copy, with all that the original has
	CopyStale Freshness = "stale copy" // the original has been written since
	OnlyCopy  Freshness = "only"       // the original is gone
	Longer    Freshness = "longer"     // the original has only a part of it
	Cut       Freshness = "cut"        // it is the original, and something was cut off that file
	Emptied   Freshness = "empty"      // it is the original, and there is nothing in it
)

// Freshness compares the kept transcript of a conversation with the original at path. path is "" if the original is
// gone.
func (a *Archive) Freshness(id agent.SessionID, path string) (Freshness, error) {
	all, err := a.Kept(id)
	if err != nil || len(all) == 0 {
		return NotKept, err
	}
	original, there := statOf(path)
	if !there {
		return OnlyCopy, nil
	}
	kept := all[0].stat
	switch {
	case sameFile(&kept, &original) && kept.Size == 0:
		return Emptied, nil
	case sameFile(&kept, &original):
		if cut, err := a.CutOff(id, path); err != nil || cut != nil {
			return Cut, err
		}
		return Linked, nil
	case upToDate(&kept, &original):
		return CopyFresh, nil
	case original.Size < kept.Size:
		if longer, err := all[0].goesOn(path); err != nil || longer {
			return Longer, err
		}
	}
	return CopyStale, nil
}

func statOf(path string) (stat unix.Stat_t, there bool) {
	there = path != "" && unix.Stat(path, &stat) == nil
	return stat, there
}
