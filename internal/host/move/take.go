package move

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/claude/transcript/parts"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/worktree"
)

// Check checks whether an agent can come here, and changes nothing.
func (e *End) Check(ctx context.Context, ask Ask) (Room, error) {
	room := Room{Format: format, Version: e.Version}
	if ask.Format != format {
		return room, nil // the caller compares them
	}
	var err error
	if room.PlaceID, err = e.Project.Store.Moves().PlaceID(); err != nil || ask.HasLeft() {
		return room, err
	}
	if err := ask.Record.Validate(); err != nil {
		return room, err
	}
	if err := e.CheckArrival(ctx, ask.Record, !ask.NoStart); err != nil {
		return room, err
	}
	project := e.Project.Store.Project()
	if ask.Record.OwnWorktree != (agent.OwnWorktree{}) {
		if room.Have, err = worktree.Tips(ctx, project); err != nil {
			return room, err
		}
		if len(room.Have) == 0 {
			return room, fail.Errorf(fail.Conflict, "the repository in %s has no commit, and the agent has a worktree", human.Quote(project)).
				Hint("clone the repository there first")
		}
	}
	room.Notes = e.differences(&ask)
	return room, nil
}

// differences says what the agent will find different here.
func (e *End) differences(ask *Ask) (notes []string) {
	if missing := slices.DeleteFunc(slices.Clone(ask.Record.EnvNames), func(name string) bool { return e.Project.Variable(name) != "" }); len(missing) > 0 {
		notes = append(notes, "variables with which it was started are not set there: "+strings.Join(missing, ", "))
	}
	if ask.Version != e.Version {
		notes = append(notes, "nbs-worker there is "+e.Version+", here "+ask.Version)
	}
	return notes
}

// Take keeps a package aside, and returns its digest. It is not an agent yet.
func (e *End) Take(ctx context.Context, id string, from io.Reader) (Taken, error) {
	drawer := e.Project.Store.Moves()
	note, err := drawer.Get(id)
	if err != nil {
		return Taken{}, err
	}
	if note.State != "" {
		return Taken{}, fail.Errorf(fail.Conflict, "this move has come to its end here before")
	}
	into, err := drawer.Receive(id, e.Project.Now())
	if err != nil {
		return Taken{}, err
	}
	defer into.Discard()
	m, digest, err := receive(from, into)
	if err == nil && m.ID != id {
		err = fail.Errorf(fail.BadInput, "the package is of another move")
	}
	if err == nil {
		err = e.CheckArrival(ctx, m.Record, false) // what is started is counted then
	}
	if err == nil {
		err = e.checkTranscripts(&m, into)
	}
	if err == nil {
		err = into.Labeled(moves.Label{Handle: string(m.Record.Handle), Session: m.Record.SessionID, From: m.From, Command: m.Command})
	}
	if err != nil {
		return Taken{}, err
	}
	if err := into.Keep(digest); err != nil {
		return Taken{}, err
	}
	return Taken{Digest: digest}, drawer.DropOthers(m.Record.SessionID, id)
}

// Drop removes the packages of a move that was canceled before the agent left.
func (e *End) Drop(id string) error {
	note, err := e.Project.Store.Moves().Get(id)
	if err != nil || note.State != "" {
		return err
	}
	return e.Project.Store.Moves().Drop(id)
}

// checkTranscripts checks that what is here of the conversations is in those that have come.
func (e *End) checkTranscripts(m *Manifest, in *moves.Package) error {
	config, err := e.configHere(&m.Record)
	if err != nil {
		return err
	}
	for _, i := range m.of(Transcript) {
		if _, err := isIn(config, m.Files[i].Session, transcript.At(in.Path(nameOf(i)))); err != nil {
			return err
		}
	}
	return nil
}

// configHere returns the configuration of Claude that an agent will have here.
func (e *End) configHere(r *agent.Record) (claude.Config, error) {
	here, err := e.Resettled(*r)
	if err != nil {
		return claude.Config{}, err
	}
	return e.Project.ConfigOf(&here)
}

// presence is what is here of a conversation that has come.
type presence struct {
	has   bool // all of it is here
	older bool // a part of it is here
}

// isIn compares a transcript that has come with the one that is here. Errors: Conflict if that has something of its own.
func isIn(config claude.Config, id agent.SessionID, come transcript.File) (p presence, err error) {
	file, found, err := config.Transcript(id)
	if err != nil || !found {
		return p, err
	}
	within, err := parts.Has(come, file)
	if err != nil {
		return p, err
	}
	if !within {
		return p, fail.Errorf(fail.Conflict, "the conversation %s went on here, too: %s has what the transcript of the agent lacks", id, human.Quote(file.Path)).
			Hint("look at it, then move it away: mv %s %s", human.ShellWord(file.Path), human.ShellWord(file.Path+".other"))
	}
	p.has, err = parts.Has(file, come)
	p.older = !p.has
	return p, err
}

// manifestOf reads the manifest of a kept package. It must have the digest.
func manifestOf(p *moves.Package, digest string) (m Manifest, err error) {
	f, err := p.Open(manifestName)
	if err != nil {
		return m, err
	}
	text, err := io.ReadAll(io.LimitReader(f, manifestLimit+1))
	if err = cmp.Or(err, f.Close()); err != nil {
		return m, err
	}
	if sumOf(text) != digest {
		return m, fail.Errorf(fail.BadInput, "the package was changed since it came")
	}
	return decode(text)
}
