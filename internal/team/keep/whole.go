package keep

import (
	"context"
	"errors"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/archive"
)

// Whether a transcript that is there has all that was said. Claude only ever appends to one:
// what is missing was taken away by somebody.

// CheckWhole compares the transcript of a conversation with all that is kept of it. It returns the
// kept one to put in its place, which has all that it has, and more; nil for none. Errors: Conflict
// when each has something that the other has not.
func (k *Keeper) CheckWhole(r *agent.Record, config claude.Config) (*archive.Kept, error) {
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found {
		return nil, err
	}
	all, err := k.Store.Archive().Kept(r.SessionID)
	if err != nil {
		return nil, nil //nolint:nilerr // what cannot be read is said when the transcript is kept again
	}
	missing, whole, err := missingFrom(file, all)
	if err != nil || missing == nil || whole != nil {
		return whole, err
	}
	parts, err := file.Continued(agent.Mapped(all, fileOf))
	if err != nil || len(parts) > 1 {
		return nil, err // Rejoin joins the parts before the start
	}
	return nil, errWentApart(r, file, *missing)
}

// missingFrom finds a kept transcript with something that file has not, and the largest of those
// that have all of file.
func missingFrom(file transcript.File, all []archive.Kept) (missing, whole *archive.Kept, err error) {
	for _, kept := range all {
		other := transcript.At(kept.Path)
		has, err := file.Has(other)
		if err != nil || has {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		if missing == nil {
			missing = &kept
		}
		larger := whole == nil || kept.Size > whole.Size
		if has, err = other.Has(file); err != nil {
			return nil, nil, err
		}
		if has && larger {
			whole = &kept
		}
	}
	return missing, whole, nil
}

// errWentApart is the error by which a person decides which of two transcripts to go on with.
func errWentApart(r *agent.Record, file transcript.File, kept archive.Kept) error {
	here, there := human.ShellWord(file.Path), human.ShellWord(kept.Path)
	return fail.Errorf(fail.Conflict, "the transcript of the conversation %s and what was kept of it went different ways: each has something that the other has not", r.SessionID).
		Hint("to see where: diff %s %s", there, here).
		Hint("to go on with what was kept: mv %s %s && cp -p %s %s", here, human.ShellWord(file.Path+".other"), there, here).
		Hint("to go on with what is there: mv %s %s", there, human.ShellWord(kept.Path+".other"))
}

// Loss is what was cut off a transcript in place, and is in no copy of ours.
type Loss struct {
	Path  string
	Bytes int64 // that are missing at least

	// Rewritten tells that the transcript has other content now: it is not the conversation that
	// it was, and only a person can decide whether to go on with it.
	Rewritten bool
}

func (l *Loss) String() string {
	if l.Rewritten {
		return "its transcript was written over, and what stood there is in no copy: " + l.Path
	}
	return fmt.Sprintf("the last %s of its transcript were cut off, and are in no copy: %s", human.Bytes(uint64(l.Bytes)), l.Path) //nolint:gosec // a size
}

// LossOf tells what was cut off the transcript of a conversation; nil for nothing.
func (k *Keeper) LossOf(config claude.Config, id agent.SessionID) (*Loss, error) {
	file, found, err := config.Transcript(id)
	if err != nil || !found {
		return nil, err
	}
	cut, err := k.Store.Archive().CutOff(id, file.Path)
	if err != nil || cut == nil {
		return nil, err
	}
	return &Loss{Path: file.Path, Bytes: cut.Missing, Rewritten: cut.Rewritten}, nil
}

// RefuseRewritten returns the error by which a person decides what becomes of a conversation whose
// transcript was written over.
func (k *Keeper) RefuseRewritten(r *agent.Record, loss *Loss) error {
	return fail.Errorf(fail.Conflict, "%s", loss.String()).
		Hint("put the file back from a backup, then repeat the command").
		Hint("to go on with what is there: rm %s", human.ShellWord(k.Store.Archive().MarkFile(r.SessionID))).
		Hint("or give the conversation up: nbs-worker resume %s --fresh", r.Handle)
}

// NoteLoss writes down what was cut off the transcript that an agent was resumed from, so that
// it is told once.
func (k *Keeper) NoteLoss(ctx context.Context, r *agent.Record, loss *Loss) error {
	if loss == nil {
		return nil
	}
	return errors.Join(k.Note(ctx, "lost", r, loss.String()), k.Store.Archive().Accept(ctx, r.SessionID, loss.Path))
}

func fileOf(kept archive.Kept) transcript.File { return transcript.At(kept.Path) }
