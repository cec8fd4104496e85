package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/archive"
)

// Claude deletes transcripts after some weeks, and people do by mistake. Each verb that sees
// a transcript sees to it that the archive keeps it; see package archive.

// Restored is a transcript that was put back.
type Restored struct {
	From, To string    // absolute paths
	Written  time.Time // the last time anything was written to it
	What     string    // that had become of it: "was gone"
}

// keep keeps the transcripts of an agent. What prevents it is written down and is no
// failure of the verb.
//
// What the archive keeps is what an agent is given back, so nothing is kept for a record that is
// not allowed: it may name anybody's conversation, and a folder of its own with another one.
func (s *Supervisor) keep(ctx context.Context, r *agent.Record) error {
	if allowed, err := s.Store.IsAllowed(r); !allowed {
		return err
	}
	config, err := s.ConfigOf(r)
	if err != nil {
		return err
	}
	if err = launcher.Keep(ctx, s.Store, config, r); err != nil {
		_ = s.Note(ctx, "unkept", r, err.Error()) // on a full disk nothing is written down
	}
	return err
}

// keptOf is what the archive keeps of a conversation; nil when nothing was ever said in it.
func (s *Supervisor) keptOf(id agent.SessionID) (*archive.Kept, error) {
	all, err := s.Store.Archive().Kept(id)
	if err != nil {
		return nil, err
	}
	for _, kept := range all {
		spoken, err := transcript.At(kept.Path).SpokenAfter(0)
		if err != nil {
			return nil, err
		}
		if spoken {
			return &kept, nil
		}
	}
	return nil, nil
}

// opening decides how the conversation of a record is opened. One whose transcript is gone
// is resumed from what was kept, if it was. Of an id that was minted for this start nothing can
// be there.
func (s *Supervisor) opening(r *agent.Record, config claude.Config, minted bool) (claude.Opening, *archive.Kept, error) {
	if minted {
		return claude.OpenNew, nil, nil
	}
	opening, err := config.Open(r)
	if opening == claude.OpenResume {
		whole, err := s.CheckWhole(r, config)
		return opening, whole, err
	}
	if err != nil && agent.KindOf(err) != agent.NotFound {
		return opening, nil, err
	}
	kept, keptErr := s.keptOf(r.SessionID)
	if keptErr != nil {
		return "", nil, keptErr // what is there is not to be replaced because it could not be read
	}
	if kept == nil || err != nil && kept.InPlace() { // in another configuration than the one at hand
		return opening, nil, s.hintInProject(r, err)
	}
	return claude.OpenResume, kept, nil
}

// hintInProject says of a conversation that is lost where the project has something that was
// kept of it, or pretends to be.
func (s *Supervisor) hintInProject(r *agent.Record, lost error) error {
	if lost == nil || !s.Store.Exists() {
		return lost
	}
	there, err := s.Store.Archive().InProject(r.SessionID)
	if err != nil || len(there) == 0 {
		return lost
	}
	said := agent.Errorf(agent.KindOf(lost), "%w", lost)
	said.Hints = append([]string{fmt.Sprintf("an earlier version kept it in the project, or somebody put it there: %s; if it is yours: nbs-worker allow %s", agent.Quote(there[0].Path), r.Handle)}, agent.HintsOf(lost)...)
	return said
}

// rejoin mends a transcript that was deleted while claude had it open: claude went on in a
// new file, which holds only what came after, and what came before was kept. Nobody writes
// to it now; the new file alone stays in the archive as well.
func (s *Supervisor) rejoin(ctx context.Context, verb string, r *agent.Record) (*Restored, error) {
	config, err := s.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	kept, _ := s.Store.Archive().Kept(r.SessionID) // what cannot be read is said when the transcript is kept again
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found || len(kept) == 0 {
		return nil, err
	}
	var earlier []transcript.File
	for _, k := range kept {
		earlier = append(earlier, transcript.At(k.Path))
	}
	parts, err := file.Continued(earlier)
	if err != nil || len(parts) == 1 {
		return nil, err
	}
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: s.Seconds()}
	release, err := s.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.Store.Archive().Keep(ctx, r.SessionID, file.Path); err != nil {
		return nil, err
	}
	if err := file.Join(parts); err != nil {
		return nil, err
	}
	restored := &Restored{From: parts[0].Path, To: file.Path, Written: file.Modified.UTC(), What: "had lost a part"}
	return restored, s.Note(ctx, "restored", r, "what was deleted from its transcript while it ran: "+file.Path)
}

// restoredPlan makes a plan, and puts the transcript back that it needs, all of it: what was
// kept last may begin in the middle.
func (s *Supervisor) restoredPlan(ctx context.Context, verb string, plan func() (Plan, error)) (Plan, *Restored, error) {
	p, err := plan()
	if err != nil || p.Opening != claude.OpenResume {
		return p, nil, err
	}
	var restored *Restored
	if p.Restores != nil {
		if restored, err = s.putBack(ctx, verb, &p); err != nil {
			return p, restored, err
		}
	}
	rejoined, err := s.rejoin(ctx, verb, &p.Record)
	if restored = cmp.Or(restored, rejoined); err != nil || restored == nil {
		return p, restored, err
	}
	p, err = plan()
	return p, restored, err
}

// putBack restores the transcript of a plan, under the lease of the conversation. One that has
// become shorter than what was kept is set aside.
func (s *Supervisor) putBack(ctx context.Context, verb string, p *Plan) (*Restored, error) {
	r := &p.Record
	holder := store.Holder{PID: os.Getpid(), Verb: verb, Handle: r.Handle, Since: s.Seconds()}
	release, err := s.Store.AcquireLease(r.SessionID, holder)
	if err != nil {
		return nil, err
	}
	defer release()
	_, kept, err := s.opening(r, p.config, false)
	if err != nil || kept == nil { // it is there again
		return nil, err
	}
	what := "was gone"
	aside, err := p.config.SetShortenedAside(r.SessionID)
	if err == nil && aside != "" {
		what = "had lost a part, and what was left of it is now " + aside
	}
	if err == nil {
		err = p.config.ClearPlace(r.SessionID)
	}
	if err != nil {
		return nil, err
	}
	path, err := p.config.RestorePath(r.SessionID, kept.Folder, r.LaunchCwd())
	if err != nil {
		return nil, err
	}
	if err := s.Store.Archive().Restore(*kept, path); err != nil {
		return nil, err
	}
	restored := &Restored{From: kept.Path, To: path, Written: kept.Modified.UTC(), What: what}
	detail := fmt.Sprintf("its transcript %s: %s, last written %s", what, path, restored.Written.Format(time.RFC3339))
	return restored, s.Note(ctx, "restored", r, detail)
}

// keptPaths are where the conversations of an agent are kept.
func (s *Supervisor) keptPaths(r *agent.Record) []string {
	var paths []string
	for _, id := range r.Conversations() {
		if kept, err := s.keptOf(id); err == nil && kept != nil {
			paths = append(paths, kept.Path)
		}
	}
	return paths
}

// addKept keeps the transcript that was just seen, and tells how it is kept.
func (s *Supervisor) addKept(ctx context.Context, view *View) {
	id, path := view.Record.SessionID, ""
	if view.Transcript != nil {
		path = view.Transcript.Path
		if view.NotAllowed == nil {
			view.Unkept = s.Store.Archive().Keep(ctx, id, path)
		}
	}
	freshness, err := s.Store.Archive().Freshness(id, path)
	view.Kept, view.Unkept = freshness, cmp.Or(view.Unkept, err)
	if view.Transcript != nil && s.longerAside(&view.Record, view.Transcript.Size) {
		view.Kept = archive.Longer
	}
}

// longerAside tells whether a transcript that was set aside, for another took its place, has
// all that is in that one, and more.
func (s *Supervisor) longerAside(r *agent.Record, size int64) bool {
	all, err := s.Store.Archive().Kept(r.SessionID)
	longer := func(kept archive.Kept) bool { return kept.Size > size }
	if err != nil || !slices.ContainsFunc(all, longer) {
		return false // they are not compared each time
	}
	config, err := s.ConfigOf(r)
	if err != nil {
		return false
	}
	whole, err := s.CheckWhole(r, config)
	return err == nil && whole != nil
}
