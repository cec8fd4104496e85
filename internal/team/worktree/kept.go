package worktree

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/git"
)

// Kept is a commit with everything that a tree held: all files, with their bytes as they were, and as its parents the
// commit that was checked out and each commit that only this tree could reach.
type Kept struct {
	Ref    string // below [KeptRefs]
	Handle agent.Handle
	At     time.Time

	Path, Branch string // of the tree
	Head         string // what was checked out
	Project      string

	Restored string // where it was restored to, if that is there; see [KeptOf]
}

const stamp = "20060102T150405.000000000Z"

// words are the lines of the commit's message that are read back.
const (
	wordPath    = "Path: "
	wordBranch  = "Branch: "
	wordHead    = "Head: "
	wordProject = "Project: "
)

func (k *Kept) message() string {
	return fmt.Sprintf("nbs-worker: the worktree of %s\n\nAll its files, with their bytes as they were.\n\n%s%s\n%s%s\n%s%s\n%s%s\n",
		k.Handle, wordPath, k.Path, wordBranch, k.Branch, wordHead, k.Head, wordProject, k.Project)
}

// keep writes the commit, with the files of the tree and the parents besides its head.
func (t *Tree) keep(ctx context.Context, root *os.Root, files []file, head string, also []string, now time.Time) (Kept, error) {
	k := Kept{Handle: t.Handle, At: now.UTC(), Path: t.Path, Branch: t.Branch, Head: head, Project: t.Project}
	k.Ref = KeptRefs + string(t.Handle) + "/" + k.At.Format(stamp)
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := k.write(out, root, files, also)
		_ = out.CloseWithError(err)
		written <- err
	}()
	err := t.common().Pipe(ctx, in, io.Discard, "-c", "core.fsync=all", "fast-import", "--quiet", "--done", "--date-format=raw")
	_ = in.CloseWithError(io.ErrClosedPipe) // when git has ended first
	if unread := <-written; unread != nil && err == nil || fail.KindOf(unread) == fail.Conflict {
		err = unread
	}
	if err != nil {
		return k, fail.Errorf(fail.KindOf(err), "keep its files below %s: %w", k.Ref, err)
	}
	return k, nil
}

// write writes the stream of git fast-import. Without its last word, git makes nothing.
func (k *Kept) write(to io.Writer, root *os.Root, files []file, also []string) error {
	w := bufio.NewWriterSize(to, 1<<16)
	message := k.message()
	fmt.Fprintf(w, "feature done\ncommit %s\ncommitter nbs-worker <nbs-worker@localhost> %d +0000\ndata %d\n%s\nfrom %s\n",
		k.Ref, k.At.Unix(), len(message), message, k.Head)
	for _, commit := range also {
		fmt.Fprintf(w, "merge %s\n", commit)
	}
	fmt.Fprint(w, "deleteall\n")
	for i := range files {
		if err := writeFile(w, root, &files[i]); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "\ndone\n")
	return w.Flush()
}

func writeFile(w *bufio.Writer, root *os.Root, f *file) error {
	in, size, err := f.open(root)
	if err != nil {
		return err
	}
	defer in.Close()
	fmt.Fprintf(w, "M %s inline %s\ndata %d\n", f.mode, quoted(f.name), size)
	n, err := io.CopyN(w, in, size)
	if err != nil || n != size {
		return changed(f.name)
	}
	fmt.Fprint(w, "\n")
	return nil
}

// quoted returns a path as git fast-import reads it.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}

// tree returns the files that a kept commit has.
func (k *Kept) tree(ctx context.Context, common git.Dir) (map[string]object, error) {
	var said bytes.Buffer
	if err := common.Pipe(ctx, nil, &said, "ls-tree", "-r", "-z", "--full-tree", k.Ref); err != nil {
		return nil, err
	}
	return parseTree(said.Bytes())
}

// KeptTrees returns what is kept in a repository of the trees of an agent, or of all agents, the newest first.
func KeptTrees(ctx context.Context, common string, handle agent.Handle) ([]Kept, error) {
	refs := strings.TrimSuffix(KeptRefs, "/")
	if handle != "" {
		refs = KeptRefs + string(handle)
	}
	said, err := git.Dir(common).Run(ctx, "for-each-ref", "--sort=-refname", "--format=%(refname)%00%(contents)%00%00", refs)
	if err != nil {
		return nil, err
	}
	var all []Kept
	for one := range strings.SplitSeq(said, "\x00\x00") {
		ref, message, ok := strings.Cut(strings.TrimPrefix(one, "\n"), "\x00")
		if k, isKept := parseKept(ref, message); ok && isKept {
			all = append(all, k)
		}
	}
	return all, nil
}

// parseKept reads the message of a kept commit. It is checked like what a user types.
func parseKept(ref, message string) (k Kept, ok bool) {
	below, _ := strings.CutPrefix(ref, KeptRefs)
	handle, at, _ := strings.Cut(below, "/")
	k.Ref, k.Handle = ref, agent.Handle(handle)
	var err error
	if k.At, err = time.Parse(stamp, at); err != nil {
		return k, false
	}
	for line := range strings.SplitSeq(message, "\n") {
		for word, into := range map[string]*string{wordPath: &k.Path, wordBranch: &k.Branch, wordHead: &k.Head, wordProject: &k.Project} {
			if rest, is := strings.CutPrefix(line, word); is {
				*into = rest
			}
		}
	}
	_, badHandle := agent.ParseHandle(handle)
	return k, badHandle == nil && agent.CheckPath("path", k.Path) == nil && agent.CheckBranch(k.Branch) == nil && agent.CheckCommit(k.Head) == nil
}

// When returns the time of a kept commit as it is typed.
func (k *Kept) When() string { return k.At.Format(stamp) }

func notKept(handle agent.Handle) error {
	return fail.Errorf(fail.NotFound, "nothing is kept of a worktree of %s", human.Quote(string(handle))).
		Hint("to see what is kept: nbs-worker worktree list")
}

// KeptOf returns what is kept of the worktrees of a project's repository, and what of it was restored; nothing outside of
// a repository.
func KeptOf(ctx context.Context, project string) ([]Kept, error) {
	_, common, err := repository(ctx, project)
	switch {
	case err != nil && fail.KindOf(err) == fail.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	all, err := KeptTrees(ctx, common, "")
	back := restoredTo(common)
	for i := range all {
		all[i].Restored = back[all[i].Ref]
	}
	return slices.DeleteFunc(all, func(k Kept) bool { return k.Project != project }), err
}
