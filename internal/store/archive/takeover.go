package archive

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// Earlier versions kept transcripts in the project. What lies there may have come with a clone,
// and an agent may have written it: it is shown, and is put back into nobody's conversation
// until the user has said that it is theirs.

// OldFolder is where in .nbs earlier versions kept transcripts.
const OldFolder = "transcripts"

// ProjectFolder is where they lie.
func (a *Archive) ProjectFolder() string { return string(a.project.Tree) }

// HasInProject tells whether transcripts lie in the project, of whatever conversation.
func (a *Archive) HasInProject() bool {
	names, err := a.project.Names()
	return err != nil || len(names) > 0
}

// InProject lists what lies in the project of a conversation, as [Archive.Kept] does of
// what is kept. Nothing of it is ever put back.
func (a *Archive) InProject(id agent.SessionID) ([]Kept, error) {
	return a.project.list(id, namedFor)
}

// namedFor lists the files of a conversation, however they came by their names.
func namedFor(dir *os.File, id agent.SessionID) ([]string, error) {
	all, err := dir.Readdirnames(-1)
	return slices.DeleteFunc(all, func(name string) bool { return !isTranscriptOf(id, name) }), err
}

func isTranscriptOf(id agent.SessionID, name string) bool {
	rest, ok := strings.CutPrefix(name, string(id)+".")
	return ok && (rest == "jsonl" || strings.HasSuffix(rest, ".jsonl"))
}

// TakeOver moves what lies in the project of conversations into the archive, on the
// user's word, and returns what was moved. What the archive has already stays what it is: a
// transcript that goes on where the archive's ends takes its place, one that went another way is
// kept besides.
func (a *Archive) TakeOver(ctx context.Context, ids ...agent.SessionID) (taken []Kept, err error) {
	for _, id := range ids {
		all, err := a.InProject(id)
		if err != nil {
			return taken, err
		}
		if len(all) == 0 {
			continue
		}
		if err := a.takeOver(ctx, id, all); err != nil {
			return taken, a.kept.Remedied(err)
		}
		taken = append(taken, all...)
	}
	if left, err := a.project.Names(); err == nil && len(left) == 0 && len(taken) > 0 {
		_ = a.nbs.Remove(OldFolder)
	}
	return taken, nil
}

func (a *Archive) takeOver(ctx context.Context, id agent.SessionID, all []Kept) error {
	unlock, err := a.kept.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	from, err := a.project.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	if err := a.takeOverOrigin(id, from, filepath.Base(all[0].Path)); err != nil {
		return err
	}
	err = a.kept.In(func(_ *os.Root, dir *os.File) error {
		for _, one := range all {
			source, err := private.OpenOwn(int(from.Fd()), filepath.Base(one.Path))
			if err != nil {
				return err
			}
			err = keeper{dir: dir, id: id}.add(source)
			if err := errors.Join(err, source.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.project.forget(id, namedFor)
}

// takeOverOrigin writes down where the original of a conversation was of which nothing was kept,
// and how far it was written: as far as what is taken over.
func (a *Archive) takeOverOrigin(id agent.SessionID, in *os.File, name string) error {
	if kept, err := a.Kept(id); err != nil || len(kept) > 0 {
		return err
	}
	from := a.kept.originOf(id)
	if from.Folder == "" {
		from = a.project.originOf(id)
	}
	if from.Folder == "" {
		return nil // not known
	}
	source, err := private.OpenOwn(int(in.Fd()), name)
	if err != nil {
		return err
	}
	defer source.Close()
	if from.mark, err = markAt(source, source.Seen.Size); err != nil {
		return err
	}
	return a.kept.HandOver(originFile(id), from, originLimit)
}

// add puts a transcript beside those that are kept, unless one of them has all of it.
func (k keeper) add(source *private.OwnFile) error {
	kept, err := private.OpenOwn(k.fd(), k.name())
	if errors.Is(err, fs.ErrNotExist) {
		return k.put(source)
	}
	if err != nil {
		return err
	}
	defer kept.Close()
	has, err := begins(kept, source)
	switch {
	case err != nil || has || sameFile(&kept.Seen, &source.Seen):
		return err
	case continues(kept, source):
		return k.update(kept, source)
	}
	return k.addAside(source)
}

// addAside gives a transcript a free name among those that are set aside.
func (k keeper) addAside(source *private.OwnFile) error {
	if err := k.clean(); err != nil {
		return err
	}
	err := k.linkOrCopy(source)
	for n := 1; err == nil && n <= asideLimit; n++ {
		err = unix.Renameat2(k.fd(), k.temp(), k.fd(), asideFile(k.id, n), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
		err = nil
	}
	return cmp.Or(err, errors.Join(errors.New("too many versions of it are kept already"), k.clean()))
}
