package store

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

// oldTranscripts is the folder in .nbs in which earlier versions kept them.
const oldTranscripts = "transcripts"

func (s *Store) inProject() shelf {
	return shelf{private.Tree(filepath.Join(s.Folder(), oldTranscripts))}
}

// ProjectTranscriptFolder is where they lie.
func (s *Store) ProjectTranscriptFolder() string { return string(s.inProject().Tree) }

// HasProjectTranscripts tells whether transcripts lie in the project, of whatever conversation.
func (s *Store) HasProjectTranscripts() bool {
	names, err := s.inProject().Names()
	return err != nil || len(names) > 0
}

// ProjectTranscripts lists what lies in the project of a conversation, as [Store.Kept] does of
// what is kept. Nothing of it is ever put back.
func (s *Store) ProjectTranscripts(id agent.SessionID) ([]Kept, error) {
	return s.inProject().kept(id, namedFor)
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

// IsAsLooked tells whether it is still the file that somebody has looked at.
func (k Kept) IsAsLooked(now Kept) bool {
	return k.Path == now.Path && sameFile(&k.stat, &now.stat) && k.stat.Size == now.stat.Size && k.stat.Ctim == now.stat.Ctim
}

// TakeOverTranscripts moves what lies in the project of conversations into the archive, on the
// user's word, and returns what was moved. What the archive has already stays what it is: a
// transcript that goes on where the archive's ends takes its place, one that went another way is
// kept besides.
func (s *Store) TakeOverTranscripts(ctx context.Context, ids ...agent.SessionID) (taken []Kept, err error) {
	for _, id := range ids {
		all, err := s.ProjectTranscripts(id)
		if err != nil {
			return taken, err
		}
		if len(all) == 0 {
			continue
		}
		if err := s.takeOver(ctx, id, all); err != nil {
			return taken, s.archive().Remedied(err)
		}
		taken = append(taken, all...)
	}
	if left, err := s.inProject().Names(); err == nil && len(left) == 0 && len(taken) > 0 {
		_ = s.nbs.Remove(oldTranscripts)
	}
	return taken, nil
}

func (s *Store) takeOver(ctx context.Context, id agent.SessionID, all []Kept) error {
	unlock, err := s.lockArchive(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	from, err := s.inProject().Open()
	if err != nil {
		return err
	}
	defer from.Close()
	if err := s.takeOverOrigin(id, from, filepath.Base(all[0].Path)); err != nil {
		return err
	}
	err = s.archive().In(func(_ *os.Root, dir *os.File) error {
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
	return s.inProject().forget(id, namedFor)
}

// takeOverOrigin writes down where the original of a conversation was of which nothing was kept,
// and how far it was written: as far as what is taken over.
func (s *Store) takeOverOrigin(id agent.SessionID, in *os.File, name string) error {
	if kept, err := s.Kept(id); err != nil || len(kept) > 0 {
		return err
	}
	from := s.originOf(id)
	if from.Folder == "" {
		from = s.inProject().originOf(id)
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
	return s.archive().HandOver(originFile(id), from, originLimit)
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
	err := linkTo(source, k.fd(), k.temp())
	if cannotLink(err) {
		err = k.copyFrom(source)
	}
	for n := 1; err == nil && n <= asideLimit; n++ {
		err = unix.Renameat2(k.fd(), k.temp(), k.fd(), asideFile(k.id, n), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
		err = nil
	}
	return cmp.Or(err, errors.Join(errors.New("too many versions of it are kept already"), k.clean()))
}
