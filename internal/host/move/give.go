package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/supervisor"
)

// End is one end of a move: the project of this process.
type End struct {
	*supervisor.Supervisor

	Version string // of nbs-worker

	// Export writes what is remembered of an agent, and Import takes it in; nil: there is no memory. The code that creates
	// an End sets them, because memory is a wing above.
	Export func(ctx context.Context, handle agent.Handle, to io.Writer) error
	Import func(ctx context.Context, from io.Reader) error
}

// Look says where an agent is, and checks whether it can leave. It changes nothing.
func (e *End) Look(ctx context.Context, handle agent.Handle, force bool) (Ask, error) {
	ask := Ask{Format: format, Version: e.Version}
	r, err := e.Project.Store.Load(handle)
	if err == nil && r.IsLeaving() {
		note, err := e.Project.Store.Moves().Get(r.Move.ID)
		if err != nil {
			return ask, err
		}
		if note.HasLeft() {
			return ask.of(&note), nil
		}
		ask.ID, ask.State, ask.Place, ask.PlaceID = r.Move.ID, moves.Given, r.Move.To, note.PlaceID
	}
	if fail.KindOf(err) == fail.NotFound && err != nil {
		note := e.Project.Store.Moves().Of(handle)
		if note == nil {
			return ask, err
		}
		return ask.of(note), nil
	}
	if err != nil {
		return ask, err
	}
	ask.Record, err = e.CheckMove(ctx, handle, force)
	ask.Record.Exits = nil
	return ask, err
}

// of returns what is said of an agent that has left.
func (a Ask) of(note *moves.Note) Ask {
	a.ID, a.State, a.Place, a.PlaceID, a.Command, a.Digest = note.ID, note.State, note.Place, note.PlaceID, note.Command, note.Digest
	a.Since, a.Messages = note.At, len(note.Messages)
	return a
}

// Giving says which agent is given, and to whom.
type Giving struct {
	Handle                agent.Handle
	ID, To, From, Command string
	PlaceID               string // of To
	Force                 bool
	Room                  Room
}

// Give ends an agent, marks its record, and writes its package.
func (e *End) Give(ctx context.Context, g Giving, to io.Writer) error {
	m := agent.HostMove{ID: g.ID, To: g.To, Command: g.Command}
	return e.Depart(ctx, g.Handle, m, g.Force, func(ctx context.Context, r *agent.Record) error {
		p := &packing{End: e, record: r, manifest: Manifest{Format: format, ID: g.ID, From: g.From, Command: g.Command, Record: *r}}
		defer p.close()
		if err := p.collect(ctx, g.Room.Have); err != nil {
			return err
		}
		text, digest, err := p.manifest.encode()
		if err != nil {
			return err
		}
		note := moves.Note{
			ID: g.ID, Handle: r.Handle, SessionID: r.SessionID, State: moves.Given, Place: g.To, PlaceID: g.PlaceID, Command: g.Command,
			Digest: digest, At: e.Project.Now(), Print: p.print, Messages: p.messages,
		}
		if p.manifest.Tree != nil {
			note.Tree = moves.Tree(*p.manifest.Tree)
		}
		if err := e.Project.Store.Moves().Put(note); err != nil {
			return err
		}
		return write(to, text, p.manifest.Files, p.open)
	})
}

// Leave ends the agent's being here, if nothing of it has changed since the package was made.
func (e *End) Leave(ctx context.Context, handle agent.Handle, id, digest string) (Gone, error) {
	note, err := e.Project.Store.Moves().Get(id)
	if err != nil {
		return Gone{}, err
	}
	if !note.Handle.Same(handle) || note.State == moves.Arrived || note.State == "" {
		return Gone{}, fail.Errorf(fail.NotFound, "no such move of it")
	}
	done, err := e.Supervisor.Leave(ctx, note, func(_ context.Context, r *agent.Record) error {
		changed := fail.Errorf(fail.Conflict, "it has changed since it was packed")
		if note.Digest != digest {
			return changed
		}
		p := &packing{End: e, record: r}
		print, _, err := p.look()
		if err == nil && print != note.Print {
			err = changed
		}
		return err
	})
	return Gone{TreeLeft: done.TreeLeft, Dropped: done.Dropped}, err
}

// Done notes that an agent has arrived.
func (e *End) Done(id string) error {
	note, err := e.Project.Store.Moves().Get(id)
	if err != nil || note.State != moves.Left {
		return err
	}
	note.State = moves.Done
	return e.Project.Store.Moves().Put(note)
}

// packing is a package that is being made.
type packing struct {
	*End

	record   *agent.Record
	manifest Manifest
	open     []content // of the files of the manifest
	print    string
	messages []string
	scratch  *moves.Package
}

func (p *packing) close() {
	if p.scratch != nil {
		p.scratch.Discard()
	}
}

// collect finds all files of the agent.
func (p *packing) collect(ctx context.Context, have []string) error {
	print, entries, err := p.look()
	if err != nil {
		return err
	}
	p.print, p.messages = print, agent.Mapped(entries, func(e queue.Entry) string { return e.ID })
	if len(entries) > 0 {
		text, err := json.Marshal(entries)
		if err != nil {
			return err
		}
		if err := p.add(File{Kind: Outbox}, ofBytes(text)); err != nil {
			return err
		}
	}
	if p.Export != nil {
		if err := p.addScratch(Memory, func(to io.Writer) error { return p.Export(ctx, p.record.Handle, to) }); err != nil {
			return fail.Errorf(fail.KindOf(err), "what is remembered of it: %w", err)
		}
	}
	if p.record.OwnWorktree == (agent.OwnWorktree{}) {
		return nil
	}
	cargo, err := p.Carry(ctx, p.record)
	if err != nil {
		return err
	}
	p.manifest.Tree = &cargo
	return p.addScratch(Pack, func(to io.Writer) error { return cargo.Pack(ctx, p.record.OwnWorktree.Common, have, to) })
}

// look finds the files of the conversations and the messages, and returns a sum of what they are now.
func (p *packing) look() (print string, entries []queue.Entry, err error) {
	sum := sha256.New()
	spec, err := json.Marshal(p.record.LaunchFields())
	if err != nil {
		return "", nil, err
	}
	_, _ = sum.Write(spec)
	config, err := p.Project.ConfigOf(p.record)
	if err != nil {
		return "", nil, err
	}
	ids := p.record.Conversations()
	if p.record.ForkOf != "" && p.record.TranscriptSeen.IsZero() {
		ids = append(ids, p.record.ForkOf)
	}
	for _, id := range ids {
		err := p.conversation(config, id, func(f File, path string, info fs.FileInfo) error {
			fmt.Fprintln(sum, f.Kind, f.Session, f.Path, path, info.Size(), info.ModTime().UnixNano())
			return p.add(f, func() (io.ReadCloser, error) { return os.Open(path) })
		})
		if err != nil {
			return "", nil, err
		}
	}
	entries, _, err = p.Project.Store.Outbox(p.record.Handle).Sealed()
	for _, e := range entries {
		fmt.Fprintln(sum, e.ID)
	}
	return hex.EncodeToString(sum.Sum(nil)), entries, err
}

// conversation calls each for the files of a conversation: Claude's, or what the archive keeps if that is gone.
func (p *packing) conversation(config claude.Config, id agent.SessionID, each func(File, string, fs.FileInfo) error) error {
	file, found, err := config.Transcript(id)
	if err != nil {
		return err
	}
	path := file.Path
	if !found {
		kept, err := p.Keeper.KeptOf(id)
		if err != nil || kept == nil {
			return err
		}
		path = kept.Path
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := each(File{Kind: Transcript, Session: id}, path, info); err != nil || !found {
		return err
	}
	own, history := config.Beside(id, path)
	if err := filesBelow(own, File{Kind: Beside, Session: id}, each); err != nil {
		return err
	}
	return filesBelow(history, File{Kind: History, Session: id}, each)
}

// filesBelow calls each for the regular files of a folder.
func filesBelow(dir string, of File, each func(File, string, fs.FileInfo) error) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := of
		if f.Path, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		return each(f, path, info)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// add adds a file to a package that is being made; a look without a package adds none.
func (p *packing) add(f File, open content) error {
	if p.manifest.Format == 0 {
		return nil
	}
	f, err := summed(f, open)
	if err != nil {
		return err
	}
	p.manifest.Files, p.open = append(p.manifest.Files, f), append(p.open, open)
	return nil
}

// addScratch adds a file that is made for the package.
func (p *packing) addScratch(kind Kind, fill func(io.Writer) error) (err error) {
	if p.scratch == nil {
		if p.scratch, err = p.Project.Store.Moves().Receive(p.manifest.ID, p.Project.Now()); err != nil {
			return err
		}
	}
	const private = 0o600
	f, err := p.scratch.OpenFile(string(kind), os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f), f.Close()); err != nil {
		return err
	}
	return p.add(File{Kind: kind}, func() (io.ReadCloser, error) { return p.scratch.Open(string(kind)) })
}
