package keep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/claude/transcript/parts"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/archive"
)

// Whether an existing transcript is complete. Claude only appends to a transcript, so missing content was removed by
// another program or a person.

// CheckWhole compares the transcript of a conversation with all kept ones. It returns the kept transcript that should
// replace it, because it contains all of it, and more; nil if there is no such transcript. Errors: Conflict if each
// has content that the other lacks.
func (k *Keeper) CheckWhole(r *agent.Record, config claude.Config) (*archive.Kept, error) {
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found {
		return nil, err
	}
	all, err := k.Project.Store.Archive().Kept(r.SessionID)
	if err != nil {
		return nil, nil //nolint:nilerr // what cannot be read is said when the transcript is kept again
	}
	missing, whole, err := missingFrom(file, all)
	if err != nil || missing == nil || whole != nil {
		return whole, err
	}
	joined, err := parts.Of(file, agent.Mapped(all, fileOf))
	if err != nil || len(joined) > 1 {
		return nil, err // Rejoin joins the parts before the start
	}
	return nil, errWentApart(r, file, *missing, all)
}

// missingFrom finds a kept transcript with content that file lacks, and the largest one that contains all of file.
func missingFrom(file transcript.File, all []archive.Kept) (missing, whole *archive.Kept, err error) {
	for _, kept := range all {
		other := transcript.At(kept.Path)
		has, err := parts.Has(file, other)
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
		if has, err = parts.Has(other, file); err != nil {
			return nil, nil, err
		}
		if has && larger {
			whole = &kept
		}
	}
	return missing, whole, nil
}

// errWentApart returns the error that asks a person to decide which of two transcripts to go on with.
func errWentApart(r *agent.Record, file transcript.File, kept archive.Kept, all []archive.Kept) error {
	here, there := human.ShellWord(file.Path), human.ShellWord(kept.Path)
	return fail.Errorf(fail.Conflict, "the transcript of the conversation %s and its kept copy differ: each contains something that the other lacks", r.SessionID).
		Hint("to see the differences: diff %s %s", there, here).
		Hint("to go on with the kept copy: mv %s %s && cp -p %s %s%s", here, human.ShellWord(file.Path+".other"), there, here, setAside(fileOf(kept), all)).
		Hint("to go on with Claude's transcript: %s", strings.TrimPrefix(setAside(file, all), " && "))
}

// setAside returns the rest of a command line that moves the kept transcripts away that have something a file lacks. One
// that stayed would differ from the file again: the transcript that went another way may have been kept, too.
func setAside(file transcript.File, all []archive.Kept) string {
	var moves strings.Builder
	for _, kept := range all {
		if has, err := parts.Has(file, fileOf(kept)); err == nil && !has {
			fmt.Fprintf(&moves, " && mv %s %s", human.ShellWord(kept.Path), human.ShellWord(kept.Path+".other"))
		}
	}
	return moves.String()
}

// Loss is what was cut off a transcript in place and is in no copy of ours.
type Loss struct {
	Path  string
	Bytes int64 // missing, at least

	// Rewritten says that the transcript has other content now: it is another conversation, and only a person can decide
	// whether to go on with it.
	Rewritten bool
}

func (l *Loss) String() string {
	if l.Rewritten {
		return "its transcript was overwritten, and no copy has the lost content: " + l.Path
	}
	return fmt.Sprintf("the last %s of its transcript were cut off, and no copy has them: %s", human.Bytes(uint64(l.Bytes)), l.Path) //nolint:gosec // a size
}

// LossOf returns what was cut off the transcript of a conversation; nil if nothing was cut off.
func (k *Keeper) LossOf(config claude.Config, id agent.SessionID) (*Loss, error) {
	file, found, err := config.Transcript(id)
	if err != nil || !found {
		return nil, err
	}
	cut, err := k.Project.Store.Archive().CutOff(id, file.Path)
	if err != nil || cut == nil {
		return nil, err
	}
	return &Loss{Path: file.Path, Bytes: cut.Missing, Rewritten: cut.Rewritten}, nil
}

// RefuseRewritten returns the error that asks a person to decide about a conversation whose transcript was
// overwritten.
func (k *Keeper) RefuseRewritten(r *agent.Record, loss *Loss) error {
	return fail.Errorf(fail.Conflict, "%s", loss.String()).
		Hint("restore the file from a backup, then repeat the command").
		Hint("to go on with the present transcript: rm %s", human.ShellWord(k.Project.Store.Archive().MarkFile(r.SessionID))).
		Hint("or give the conversation up: nbs-worker resume %s --fresh", r.Handle)
}

// NoteLoss records what was cut off the transcript that an agent was resumed from, so that it is reported once.
func (k *Keeper) NoteLoss(ctx context.Context, r *agent.Record, loss *Loss) error {
	if loss == nil {
		return nil
	}
	return errors.Join(k.Project.Note(ctx, "lost", r, loss.String()), k.Project.Store.Archive().Accept(ctx, r.SessionID, loss.Path))
}

func fileOf(kept archive.Kept) transcript.File { return transcript.At(kept.Path) }
