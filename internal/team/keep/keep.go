// Package keep sees to it that no conversation is lost: that the archive has what Claude deletes
// after some weeks and people delete by mistake, that what is missing is noticed, and that it is
// put back before an agent is started.
//
//   - Claude only ever appends to a transcript: what is missing was taken away by somebody. A mere
//     beginning of what was kept is put back whole; when each has its own end, a person decides.
//   - What the archive keeps is what an agent is given back, so nothing is kept, put back or removed
//     for a record that is not allowed.
//   - A transcript is changed under the lease of its conversation only, while nobody writes to it.
package keep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/launcher"
	"nbs-worker/internal/team/observe"
)

// Keeper keeps the conversations of the agents of one project.
type Keeper struct{ observe.Observer }

// Restored is a transcript that was put back.
type Restored struct {
	From, To string    // absolute paths
	Written  time.Time // the last time anything was written to it
	What     string    // what had become of it: "was gone"
}

// Keep keeps the transcripts of an agent. What prevents it is written down and is no
// failure of the verb.
//
// What the archive keeps is what an agent is given back, so nothing is kept for a record that is
// not allowed: it may name anybody's conversation, and a folder of its own with another one.
func (k *Keeper) Keep(ctx context.Context, r *agent.Record) error {
	if allowed, err := k.Store.IsAllowed(r); !allowed {
		return err
	}
	config, err := k.ConfigOf(r)
	if err != nil {
		return err
	}
	if err = launcher.Keep(ctx, k.Store, config, r); err != nil {
		_ = k.Note(ctx, "unkept", r, err.Error()) // on a full disk nothing is written down
	}
	return err
}

// KeptOf is what the archive keeps of a conversation; nil when it keeps no message of it.
func (k *Keeper) KeptOf(id agent.SessionID) (*archive.Kept, error) {
	all, err := k.Store.Archive().KeptAnywhere(id)
	if err != nil {
		return nil, err
	}
	for _, kept := range all {
		hasMessages, err := transcript.At(kept.Path).HasMessagesAfter(0)
		if err != nil {
			return nil, err
		}
		if hasMessages {
			return &kept, nil
		}
	}
	return nil, nil
}

// Opening decides how the conversation of a record is opened. One whose transcript is gone
// is resumed from the kept transcript, if there is one. An id that was minted for this start can
// have neither.
func (k *Keeper) Opening(r *agent.Record, config claude.Config, minted bool) (claude.Opening, *archive.Kept, error) {
	if minted {
		return claude.OpenNew, nil, nil
	}
	opening, err := config.Open(r)
	if opening == claude.OpenResume {
		whole, err := k.CheckWhole(r, config)
		return opening, whole, err
	}
	closed := errors.Is(err, claude.ErrClosed)
	if err != nil && !closed && fail.KindOf(err) != fail.NotFound {
		return opening, nil, err
	}
	kept, keptErr := k.KeptOf(r.SessionID)
	if keptErr != nil {
		return "", nil, keptErr // a kept transcript that cannot be read must not lead to a new conversation
	}
	if closed && (kept == nil || !kept.HasLeft()) {
		return opening, nil, err
	}
	if kept == nil || err != nil && kept.InPlace() { // InPlace: in another configuration folder than this
		return opening, nil, err
	}
	return claude.OpenResume, kept, nil
}

// Rejoin mends a transcript that was deleted while claude had it open: claude went on in a
// new file, which holds only what came after, and what came before was kept. It is done under the
// lease of the conversation; the new file as it was stays in the archive too.
func (k *Keeper) Rejoin(ctx context.Context, verb string, r *agent.Record) (*Restored, error) {
	config, err := k.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	kept, _ := k.Store.Archive().Kept(r.SessionID) // what cannot be read is said when the transcript is kept again
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found || len(kept) == 0 {
		return nil, err
	}
	parts, err := file.Continued(agent.Mapped(kept, fileOf))
	if err != nil || len(parts) == 1 {
		return nil, err
	}
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: k.Seconds()}
	release, err := k.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := k.Store.Archive().Keep(ctx, r.SessionID, file.Path); err != nil {
		return nil, err
	}
	if err := file.Join(parts); err != nil {
		return nil, err
	}
	restored := &Restored{From: parts[0].Path, To: file.Path, Written: file.Modified.UTC(), What: "had lost a part"}
	return restored, k.Note(ctx, "restored", r, "what was deleted from its transcript while it ran: "+file.Path)
}

// PutBack restores the transcript of a record, under the lease of the conversation. One that has
// become shorter than what was kept is set aside.
func (k *Keeper) PutBack(ctx context.Context, verb string, r *agent.Record, config claude.Config) (*Restored, error) {
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: k.Seconds()}
	release, err := k.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	_, kept, err := k.Opening(r, config, false)
	if err != nil || kept == nil { // it is there again
		return nil, err
	}
	what := "was gone"
	aside, err := config.SetShortenedAside(r.SessionID)
	if err == nil && aside != "" {
		what = "had lost a part, and what was left of it is now " + aside
	}
	if err == nil {
		err = config.ClearPlace(r.SessionID)
	}
	if err != nil {
		return nil, err
	}
	path, err := config.RestorePath(r.SessionID, kept.Folder, r.LaunchCwd())
	if err != nil {
		return nil, err
	}
	if err := k.Store.Archive().Restore(*kept, path); err != nil {
		return nil, err
	}
	restored := &Restored{From: kept.Path, To: path, Written: kept.Modified.UTC(), What: what}
	detail := fmt.Sprintf("its transcript %s: %s, last written %s", what, path, restored.Written.Format(time.RFC3339))
	return restored, k.Note(ctx, "restored", r, detail)
}

// KeptPaths are where the conversations of an agent are kept.
func (k *Keeper) KeptPaths(r *agent.Record) []string {
	var paths []string
	for _, id := range r.Conversations() {
		if kept, err := k.KeptOf(id); err == nil && kept != nil {
			paths = append(paths, kept.Path)
		}
	}
	return paths
}

// KeepSeen keeps the transcript of a conversation that was just seen, nil for none, and tells how it
// is kept. The error is why it is not.
func (k *Keeper) KeepSeen(ctx context.Context, r *agent.Record, file *transcript.File, allowed bool) (archive.Freshness, error) {
	path := ""
	var unkept error
	if file != nil {
		path = file.Path
		if allowed {
			unkept = k.Store.Archive().Keep(ctx, r.SessionID, path)
		}
	}
	freshness, err := k.Store.Archive().Freshness(r.SessionID, path)
	if file != nil && k.longerAside(r, file.Size) {
		freshness = archive.Longer
	}
	return freshness, cmp.Or(unkept, err)
}

// longerAside reports whether a transcript that was set aside when another took its place has all
// that the other has, and more.
func (k *Keeper) longerAside(r *agent.Record, size int64) bool {
	all, err := k.Store.Archive().Kept(r.SessionID)
	longer := func(kept archive.Kept) bool { return kept.Size > size }
	if err != nil || !slices.ContainsFunc(all, longer) {
		return false // no kept one is larger, so none need be read
	}
	config, err := k.ConfigOf(r)
	if err != nil {
		return false
	}
	whole, err := k.CheckWhole(r, config)
	return err == nil && whole != nil
}
