package move

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/wholefile"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/supervisor"
)

// Arriving says which package becomes an agent.
type Arriving struct {
	Handle           agent.Handle
	ID, Digest, From string
	Resume           *supervisor.Resume // how it is started; nil: it is not
}

// Arrive makes an agent of a package that has come, and starts it if it ran before. The result is complete beside an
// error of the start.
func (e *End) Arrive(ctx context.Context, a Arriving) (Settled, error) {
	drawer := e.Project.Store.Moves()
	note, err := drawer.Get(a.ID)
	if err != nil {
		return Settled{}, err
	}
	done := Settled{}
	if note.State == "" {
		if done, err = e.unpack(ctx, a); err != nil {
			return done, err
		}
		if err := drawer.CameBack(a.ID, done.Record.Conversations()); err != nil {
			return done, err
		}
		note = moves.Note{
			ID: a.ID, Handle: a.Handle, SessionID: done.Record.SessionID, State: moves.Arrived, Place: a.From,
			Command: "nbs-worker session " + string(a.Handle), Digest: a.Digest, At: e.Project.Now(),
		}
		if err := drawer.Put(note); err != nil {
			return done, err
		}
	}
	if note.State != moves.Arrived || !note.Handle.Same(a.Handle) {
		return done, fail.Errorf(fail.Conflict, "this machine is the one that the agent has left")
	}
	if err := drawer.Drop(a.ID); err != nil {
		return done, err
	}
	started, r, err := e.Arrived(ctx, note, a.Resume)
	if err != nil && fail.KindOf(err) == fail.NotFound && r.Handle == "" { // it was dismissed, or has moved on
		return Settled{}, nil
	}
	done.Record = r
	if started != nil {
		done.Started, done.State = err == nil, started.Status.Word()
	}
	return done, err
}

// unpack makes an agent of a package.
func (e *End) unpack(ctx context.Context, a Arriving) (done Settled, err error) {
	in, err := e.Project.Store.Moves().Open(a.ID, a.Digest)
	if err != nil {
		return done, err
	}
	defer in.Close()
	m, err := manifestOf(in, a.Digest)
	if err != nil {
		return done, err
	}
	if m.ID != a.ID || !m.Record.Handle.Same(a.Handle) || !m.Record.IsLeaving() {
		return done, fail.Errorf(fail.BadInput, "the package is of another move")
	}
	r, err := e.Resettled(m.Record)
	if err != nil {
		return done, err
	}
	r.Move = &agent.HostMove{ID: m.ID, Runs: m.Record.Move.Runs}
	if !r.Move.Runs && a.Resume != nil { // otherwise it is left stopped
		r.Desired = m.Record.Move.Desired
	}
	done.Record, err = e.Supervisor.Arrive(ctx, r, a.From, func(ctx context.Context, r *agent.Record) error {
		u := &unpacking{End: e, in: in, manifest: &m, record: r}
		return u.all(ctx, &done)
	})
	return done, err
}

// unpacking brings the files of a package to their places. Each step can be repeated.
type unpacking struct {
	*End

	in       *moves.Package
	manifest *Manifest
	record   *agent.Record
}

func (u *unpacking) all(ctx context.Context, done *Settled) error {
	release, err := u.Project.Store.AcquireLease(u.record.SessionID, store.Holder{PID: os.Getpid(), Verb: "move", Handle: u.record.Handle, Since: u.Project.Seconds()})
	if err != nil {
		return err
	}
	defer release()
	if cargo := u.manifest.Tree; cargo != nil {
		branch := ""
		err := u.with(Pack, func(from io.Reader) (err error) {
			branch, err = u.LandTree(ctx, u.record, *cargo, from)
			return err
		})
		if err != nil {
			return err
		}
		done.NoTree = branch == ""
	}
	config, err := u.Project.ConfigOf(u.record)
	if err != nil {
		return err
	}
	for i := range u.manifest.Files {
		if err := u.file(config, i); err != nil {
			return err
		}
	}
	if err := u.with(Memory, func(from io.Reader) error {
		if u.Import == nil {
			return nil
		}
		return u.Import(ctx, from)
	}); err != nil {
		return err
	}
	return u.with(Outbox, func(from io.Reader) error {
		var entries []queue.Entry
		if err := json.NewDecoder(from).Decode(&entries); err != nil {
			return err
		}
		return u.Project.Store.Outbox(u.record.Handle).Arrive(ctx, entries)
	})
}

// with calls do with the file of a kind, if the package has one. What it has read must be what came.
func (u *unpacking) with(kind Kind, do func(io.Reader) error) error {
	for _, i := range u.manifest.of(kind) {
		f, err := u.in.Open(nameOf(i))
		if err != nil {
			return err
		}
		err = u.verified(i, f)
		if err == nil {
			err = do(f)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// verified checks the sum of a file, and goes back to its beginning.
func (u *unpacking) verified(i int, f io.ReadSeeker) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != u.manifest.Files[i].Sum {
		return fail.Errorf(fail.BadInput, "the package was changed since it came")
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// file brings a file of a conversation to its place.
func (u *unpacking) file(config claude.Config, i int) error {
	f := &u.manifest.Files[i]
	switch f.Kind {
	case Transcript:
		return u.transcript(config, i)
	case Beside, History:
		path, err := config.RestorePath(f.Session, "", u.record.LaunchCwd())
		if err != nil {
			return err
		}
		own, history := config.Beside(f.Session, path)
		at := filepath.Join(own, f.Path)
		if f.Kind == History {
			at = filepath.Join(history, f.Path)
		}
		if same, err := isFile(at, f); same || err != nil {
			return err
		}
		return u.put(i, at)
	default:
		return nil
	}
}

// transcript brings a transcript to where Claude looks for conversations of the folder. An older state of it is set aside.
func (u *unpacking) transcript(config claude.Config, i int) error {
	id := u.manifest.Files[i].Session
	here, err := isIn(config, id, transcript.At(u.in.Path(nameOf(i))))
	if err != nil || here.has {
		return err
	}
	if here.older {
		if _, err := config.MakeRoom(id); err != nil {
			return err
		}
	}
	path, err := config.RestorePath(id, "", u.record.LaunchCwd())
	if err != nil {
		return err
	}
	return u.put(i, path)
}

// isFile reports whether a path is a file of the package, with its content.
func isFile(path string, f *File) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() != f.Size) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	has, err := summed(File{}, func() (io.ReadCloser, error) { return os.Open(path) })
	return has.Sum == f.Sum, err
}

// put copies a file of the package to a place, durably: the package is dropped after it.
func (u *unpacking) put(i int, path string) error {
	from, err := u.in.Open(nameOf(i))
	if err != nil {
		return err
	}
	defer from.Close()
	if err := u.verified(i, from); err != nil {
		return err
	}
	return wholefile.Put(path, from)
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
