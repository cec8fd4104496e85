// Package keep prevents the loss of conversations. The archive keeps what Claude deletes after some weeks and what
// people delete by mistake. Missing content is noticed, and restored before an agent is started.
//
//   - Claude only appends to a transcript, so missing content was removed by another program or a person. If the
//     transcript is only a beginning of the kept one, the kept one replaces it. If each has its own end, a person
//     decides.
//   - An agent gets back what the archive keeps, so nothing is kept, restored or removed for a record that is not
//     allowed.
//   - A transcript is changed only under the lease of its conversation, while no process writes to it.
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
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/claude/transcript/parts"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/launcher"
	"nbs-worker/internal/team/observe"
)

// Keeper keeps the conversations of the agents of one project.
type Keeper struct{ Project *observe.Project }

// Restored is a transcript that was restored.
type Restored struct {
	From, To string    // absolute paths
	Written  time.Time // when it was last written to
	What     string    // what had happened to it: "was gone"
}

// Keep keeps the transcripts of an agent. An error is journalled, and is no failure of the verb.
//
// An agent gets back what the archive keeps, so nothing is kept for a record that is not allowed: it may name the
// conversation of another agent, and a folder of its own that contains another one.
func (k *Keeper) Keep(ctx context.Context, r *agent.Record) error {
	if allowed, err := k.Project.Store.IsAllowed(r); !allowed {
		return err
	}
	config, err := k.Project.ConfigOf(r)
	if err != nil {
		return err
	}
	if err = launcher.Keep(ctx, k.Project.Store, config, r); err != nil {
		_ = k.Project.Note(ctx, "unkept", r, err.Error()) // on a full disk nothing is journalled
	}
	return err
}

// KeptOf returns the kept transcript of a conversation; nil if no message of it is kept.
func (k *Keeper) KeptOf(id agent.SessionID) (*archive.Kept, error) {
	all, err := k.Project.Store.Archive().Kept(id)
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

// Opening decides how the conversation of a record is opened. If its transcript is gone, it is resumed from the kept
// transcript, if there is one. An id that was created for this start has neither.
func (k *Keeper) Opening(r *agent.Record, config claude.Config, minted bool) (cmdline.Opening, *archive.Kept, error) {
	if minted {
		return cmdline.OpenNew, nil, nil
	}
	opening, err := config.Open(r)
	if opening == cmdline.OpenResume {
		whole, err := k.CheckWhole(r, config)
		return opening, whole, err
	}
	closed := errors.Is(err, claude.ErrClosed)
	if err != nil && !closed && fail.KindOf(err) != fail.NotFound {
		return opening, nil, err
	}
	kept, keptErr := k.KeptOf(r.SessionID)
	if keptErr != nil {
		return "", nil, keptErr // an unreadable kept transcript must not lead to a new conversation
	}
	if closed && (kept == nil || !kept.HasLeft()) {
		return opening, nil, err
	}
	if kept == nil || err != nil && kept.InPlace() { // InPlace: in another configuration folder
		return opening, nil, err
	}
	return cmdline.OpenResume, kept, nil
}

// Rejoin repairs a transcript that was deleted while claude had it open. Claude then went on in a new file, which
// contains only the later part; the earlier part was kept. Rejoin joins them under the lease of the conversation. The
// archive keeps the unjoined new file too.
func (k *Keeper) Rejoin(ctx context.Context, verb string, r *agent.Record) (*Restored, error) {
	config, err := k.Project.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	kept, _ := k.Project.Store.Archive().Kept(r.SessionID) // an unreadable one is reported when the transcript is kept again
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found || len(kept) == 0 {
		return nil, err
	}
	all, err := parts.Of(file, agent.Mapped(kept, fileOf))
	if err != nil || len(all) == 1 {
		return nil, err
	}
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: k.Project.Seconds()}
	release, err := k.Project.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := k.Project.Store.Archive().Keep(ctx, r.SessionID, file.Path); err != nil {
		return nil, err
	}
	if err := parts.Join(file, all); err != nil {
		return nil, err
	}
	restored := &Restored{From: all[0].Path, To: file.Path, Written: file.Modified.UTC(), What: "had lost a part"}
	return restored, k.Project.Note(ctx, "restored", r, "the part of its transcript that was deleted while it ran: "+file.Path)
}

// PutBack restores the transcript of a record, under the lease of the conversation. If the present one is shorter
// than the kept one, it is moved aside.
func (k *Keeper) PutBack(ctx context.Context, verb string, r *agent.Record, config claude.Config) (*Restored, error) {
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: k.Project.Seconds()}
	release, err := k.Project.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	_, kept, err := k.Opening(r, config, false)
	if err != nil || kept == nil { // it is there again
		return nil, err
	}
	what := "was gone"
	aside, err := config.MakeRoom(r.SessionID)
	if err != nil {
		return nil, err
	}
	if aside != "" {
		what = "had lost a part; the remainder was moved to " + aside
	}
	path, err := config.RestorePath(r.SessionID, kept.Folder, r.LaunchCwd())
	if err != nil {
		return nil, err
	}
	if err := k.Project.Store.Archive().Restore(*kept, path); err != nil {
		return nil, err
	}
	restored := &Restored{From: kept.Path, To: path, Written: kept.Modified.UTC(), What: what}
	detail := fmt.Sprintf("its transcript %s: %s, last written %s", what, path, restored.Written.Format(time.RFC3339))
	return restored, k.Project.Note(ctx, "restored", r, detail)
}

// KeptPaths returns the paths of an agent's kept conversations.
func (k *Keeper) KeptPaths(r *agent.Record) []string {
	var paths []string
	for _, id := range r.Conversations() {
		if kept, err := k.KeptOf(id); err == nil && kept != nil {
			paths = append(paths, kept.Path)
		}
	}
	return paths
}

// KeepSeen keeps the transcript of a conversation that was just seen, if any, and returns how it is kept. The error
// is why it is not kept.
func (k *Keeper) KeepSeen(ctx context.Context, r *agent.Record, file *transcript.File, allowed bool) (archive.Freshness, error) {
	path := ""
	var unkept error
	if file != nil {
		path = file.Path
		if allowed {
			unkept = k.Project.Store.Archive().Keep(ctx, r.SessionID, path)
		}
	}
	freshness, err := k.Project.Store.Archive().Freshness(r.SessionID, path)
	if file != nil && k.longerAside(r, file.Size) {
		freshness = archive.Longer
	}
	return freshness, cmp.Or(unkept, err)
}

// longerAside reports whether a transcript that was moved aside for another one contains all of it, and more.
func (k *Keeper) longerAside(r *agent.Record, size int64) bool {
	all, err := k.Project.Store.Archive().Kept(r.SessionID)
	longer := func(kept archive.Kept) bool { return kept.Size > size }
	if err != nil || !slices.ContainsFunc(all, longer) {
		return false // no kept one is larger, so it need not read any
	}
	config, err := k.Project.ConfigOf(r)
	if err != nil {
		return false
	}
	whole, err := k.CheckWhole(r, config)
	return err == nil && whole != nil
}
