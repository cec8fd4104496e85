package move

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/worktree"
)

// format is the version of packages that this program writes and reads.
const format = 2

// Kind says what a file of a package is.
type Kind string

// The kinds of files.
const (
	Transcript Kind = "transcript"
	Beside     Kind = "beside"  // of a conversation: its subagents, results of its tools
	History    Kind = "history" // of a conversation: files before they were edited
	Memory     Kind = "memory"  // what is remembered of the agent
	Outbox     Kind = "outbox"  // its waiting messages
	Pack       Kind = "pack"    // git's pack of its worktree
)

// File is a file of a package. Its name there is its number.
type File struct {
	Kind    Kind            `json:"kind"`
	Session agent.SessionID `json:"session,omitempty"`
	Path    string          `json:"path,omitempty"` // of Beside and History: below the folder of the conversation
	Size    int64           `json:"size"`
	Sum     string          `json:"sum"` // SHA-256
	Written time.Time       `json:"written,omitzero"`
}

// Manifest says what a package holds. Its own sum is the digest of the package.
type Manifest struct {
	Format  int             `json:"format"`
	ID      string          `json:"id"`
	From    string          `json:"from"` // the name of the machine
	Command string          `json:"command"`
	Record  agent.Record    `json:"record"`
	Tree    *worktree.Cargo `json:"tree,omitempty"`
	Files   []File          `json:"files"`
}

const (
	manifestName  = "manifest.json"
	manifestLimit = 32 << 20 // bytes
	filesLimit    = 1 << 17
)

func nameOf(i int) string { return strconv.Itoa(i) }

// content opens what a file of a package is made of.
type content func() (io.ReadCloser, error)

func ofBytes(data []byte) content {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// summed completes the size and the sum of a file.
func summed(f File, open content) (File, error) {
	in, err := open()
	if err != nil {
		return f, err
	}
	defer in.Close()
	sum := sha256.New()
	if f.Size, err = io.Copy(sum, in); err != nil {
		return f, err
	}
	f.Sum = hex.EncodeToString(sum.Sum(nil))
	return f, nil
}

// encode returns a manifest as it is written, and the digest.
func (m *Manifest) encode() (text []byte, digest string, err error) {
	text, err = json.Marshal(m)
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:]), err
}

// write writes a package.
func write(to io.Writer, manifest []byte, files []File, open []content) error {
	w := tar.NewWriter(to)
	if err := entry(w, manifestName, int64(len(manifest)), bytes.NewReader(manifest)); err != nil {
		return err
	}
	for i, f := range files {
		in, err := open[i]()
		if err != nil {
			return err
		}
		sum := sha256.New()
		err = entry(w, nameOf(i), f.Size, io.TeeReader(in, sum))
		_ = in.Close()
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.Sum {
			err = fail.Errorf(fail.Conflict, "a file of it was changed meanwhile: %s %s", f.Kind, f.Path)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func entry(w *tar.Writer, name string, size int64, in io.Reader) error {
	const private = 0o600
	if err := w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: private, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	_, err := io.CopyN(w, in, size)
	return err
}

// receive reads a package into a folder, and returns its manifest and digest. A package that is cut off or damaged is
// refused. Errors: BadInput; Unfit for one of a later version.
func receive(from io.Reader, into *moves.Package) (m Manifest, digest string, err error) {
	r := tar.NewReader(from)
	var text bytes.Buffer
	if err := next(r, manifestName, -1, &text); err != nil {
		return m, "", err
	}
	if m, err = decode(text.Bytes()); err != nil {
		return m, "", err
	}
	sum := sha256.Sum256(text.Bytes())
	digest = hex.EncodeToString(sum[:])
	for i, f := range m.Files {
		if err := receiveFile(r, nameOf(i), f, into); err != nil {
			return m, "", err
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		return m, "", errCutOff(err)
	}
	return m, digest, keepFile(into, manifestName, &text, nil)
}

func receiveFile(r *tar.Reader, name string, f File, into *moves.Package) error {
	sum := sha256.New()
	in, out := io.Pipe()
	read := make(chan error, 1)
	go func() {
		err := next(r, name, f.Size, out)
		_ = out.CloseWithError(err)
		read <- err
	}()
	err := keepFile(into, name, in, sum)
	_ = in.CloseWithError(io.ErrClosedPipe)
	if unread := <-read; unread != nil && err == nil {
		err = unread
	}
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.Sum {
		err = fail.Errorf(fail.BadInput, "the package is damaged: file %s", name)
	}
	return err
}

// keepFile writes a file of a package durably.
func keepFile(into *moves.Package, name string, in io.Reader, also io.Writer) error {
	const private = 0o600
	f, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	if also != nil {
		in = io.TeeReader(in, also)
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Sync(), f.Close())
}

// next copies the next entry of a package. size is -1 for the manifest.
func next(r *tar.Reader, name string, size int64, to io.Writer) error {
	h, err := r.Next()
	switch {
	case err != nil:
		return errCutOff(err)
	case h.Name != name || h.Typeflag != tar.TypeReg || size >= 0 && h.Size != size || size < 0 && h.Size > manifestLimit:
		return fail.Errorf(fail.BadInput, "it is not a package of an agent: %s", human.Quote(h.Name))
	}
	if _, err = io.CopyN(to, r, h.Size); err != nil {
		return errCutOff(err)
	}
	return nil
}

func errCutOff(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fail.Errorf(fail.BadInput, "the package is cut off")
	}
	return fmt.Errorf("read the package: %w", err)
}

// decode reads a manifest, and checks it like what a user types.
func decode(text []byte) (m Manifest, err error) {
	var head struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(text, &head) == nil && head.Format > format {
		return m, fail.Errorf(fail.Unfit, "the package is of version %d, and nbs-worker here knows version %d", head.Format, format)
	}
	if err = json.Unmarshal(text, &m); err == nil {
		err = m.check()
	}
	if err != nil {
		return m, fail.Errorf(fail.BadInput, "the package is damaged: %w", err)
	}
	return m, nil
}

func (m *Manifest) check() error {
	if m.Format != format || len(m.Files) > filesLimit {
		return errors.New("the manifest is not one of ours")
	}
	if err := agent.CheckMoveID(m.ID); err != nil {
		return err
	}
	if err := m.Record.Validate(); err != nil {
		return err
	}
	if !human.IsLegible(m.From) || !human.IsLegible(m.Command) {
		return errors.New("a name in it is not legible")
	}
	if (m.Tree != nil) != (m.Record.OwnWorktree != agent.OwnWorktree{}) {
		return errors.New("a worktree has no files, or files have no worktree")
	}
	if m.Tree != nil {
		if err := m.Tree.Check(m.Record.Handle); err != nil {
			return err
		}
	}
	for _, f := range m.Files {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) check() error {
	switch f.Kind {
	case Transcript, Beside, History:
		if id, err := agent.ParseSessionID(string(f.Session)); err != nil || id != f.Session {
			return errors.Join(err, errors.New("a file has no conversation"))
		}
	case Memory, Outbox, Pack:
	default:
		return fmt.Errorf("a file is of the kind %s", human.Quote(string(f.Kind)))
	}
	if inFolder := f.Kind == Beside || f.Kind == History; inFolder != (f.Path != "") || inFolder && (!filepath.IsLocal(f.Path) || filepath.Clean(f.Path) != f.Path) {
		return fmt.Errorf("a file has the path %s", human.Quote(f.Path))
	}
	if f.Size < 0 {
		return errors.New("a file has no size")
	}
	return nil
}

// of returns the numbers of the files of a kind.
func (m *Manifest) of(kind Kind) (all []int) {
	for i := range m.Files {
		if m.Files[i].Kind == kind {
			all = append(all, i)
		}
	}
	return all
}
