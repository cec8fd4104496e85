package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/git"
	"nbs-worker/internal/platform/machine"
)

// Obstacle is a reason why a tree must stay.
type Obstacle struct {
	What string // "2 files are changed: a.go, b.go"
	Hint string // what a person can do about it
}

// refusal returns the error for a tree that must stay.
func (t *Tree) refusal(all []Obstacle) error {
	what := make([]string, len(all))
	for i, o := range all {
		what[i] = o.What
	}
	err := fail.Errorf(fail.Conflict, "the worktree %s stays: %s", human.Quote(t.Path), strings.Join(what, "; "))
	for _, o := range all {
		if o.Hint != "" && !slices.Contains(fail.HintsOf(err), o.Hint) {
			err = err.Hint("%s", o.Hint)
		}
	}
	return err
}

// unknown is the obstacle that something cannot be found out.
func unknown(what string, err error) Obstacle {
	o := Obstacle{What: what + " cannot be found out: " + err.Error()}
	if hints := fail.HintsOf(err); len(hints) > 0 {
		o.Hint = hints[0]
	}
	return o
}

// obstacleLook looks for one kind of obstacle.
type obstacleLook struct {
	at   string
	look func(context.Context) ([]Obstacle, error)
}

// Obstacles returns why the tree must stay: what would be lost, who uses it, and what cannot be found out. Those in
// passing, such as processes of the agent itself, are left out unless it has ended.
func (t *Tree) Obstacles(ctx context.Context, m *machine.Machine, ended bool) []Obstacle {
	return t.find(ctx, m, ended, []obstacleLook{
		{"what is changed in it", t.dirt},
		{"whether git is in the middle of something", t.midway},
		{"whether its commits are anywhere else", t.unmerged},
		{"what is stashed", t.stashes},
		{"what is in its folders", t.unkeepable},
	})
}

// find returns the obstacles that some looks find.
func (t *Tree) find(ctx context.Context, m *machine.Machine, ended bool, looks []obstacleLook) []Obstacle {
	if err := t.checkIsTree(ctx); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return []Obstacle{t.missing(ctx)}
		}
		return []Obstacle{unknown("whether it is the agent's tree", err)}
	}
	var all []Obstacle
	for _, look := range append(looks, obstacleLook{"whether a person has locked it", t.personsLock}) {
		found, err := look.look(ctx)
		if err != nil {
			found = append(found, unknown(look.at, err))
		}
		all = append(all, found...)
	}
	if ended {
		found, err := t.processes(ctx, m)
		if err != nil {
			found = append(found, unknown("which processes are in it", err))
		}
		all = append(all, found...)
	}
	return all
}

// missing is the obstacle of a tree that is not where the record says.
func (t *Tree) missing(ctx context.Context) Obstacle {
	at, err := t.movedTo(ctx)
	switch {
	case err != nil:
		return unknown("where it is", err)
	case at != "":
		return Obstacle{"it was moved to " + human.Quote(at), "to move it back: " + t.MoveBack(at)}
	}
	return Obstacle{
		What: "it is not there: it was moved or deleted",
		Hint: "if it was deleted, this removes the agent alone: nbs-worker dismiss " + string(t.Handle),
	}
}

// dirt finds files that git shows as changed, as new or as in conflict, files that are hidden from git's status, and
// copied files that differ from those in the main tree.
func (t *Tree) dirt(ctx context.Context) ([]Obstacle, error) {
	var said bytes.Buffer
	err := git.Dir(t.Path).Pipe(ctx, nil, &said, "-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.untrackedCache=false", "-c", "core.fileMode=true",
		"status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return nil, err
	}
	var changed, fresh []string
	for line := range strings.SplitSeq(strings.TrimSuffix(said.String(), "\x00"), "\x00") {
		const about = 3 // two letters and a space
		switch {
		case len(line) < about:
		case strings.HasPrefix(line, "??"):
			if name := line[about:]; !t.isLinked(ctx, name) {
				fresh = append(fresh, name)
			}
		default:
			changed = append(changed, line[about:])
		}
	}
	hidden, err := t.hidden(ctx)
	if err != nil {
		return nil, err
	}
	copies, err := t.changedCopies(ctx)
	if err != nil {
		return nil, err
	}
	at := "to see them: git -C " + human.ShellWord(t.Path) + " status; then commit them, or delete those that are not needed"
	return named(
		naming{"file", "is changed and not committed", "are changed and not committed", changed, at},
		naming{"file", "is in no commit", "are in no commit", fresh, at},
		naming{"file", "is hidden from git's status", "are hidden from git's status", hidden, "to see them: git -C " + human.ShellWord(t.Path) + " ls-files -v"},
		naming{"copied file", "differs from that of the repository", "differ from those of the repository", copies, ""},
	), nil
}

// unkeepable finds what a kept commit cannot hold, in ignored folders too.
func (t *Tree) unkeepable(context.Context) ([]Obstacle, error) {
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	repositories, others, err := strange(root)
	hint := "move it out of " + human.ShellWord(t.Path) + ", or delete it: no commit can keep it"
	return named(
		naming{"folder", "is a repository of its own", "are repositories of their own", repositories, hint},
		naming{"name", "is neither a file nor a link", "are neither files nor links", others, hint},
	), err
}

// naming is an obstacle that names some things.
type naming struct {
	noun, is, are string
	names         []string
	hint          string
}

func named(all ...naming) (found []Obstacle) {
	const most = 5
	for _, n := range all {
		if len(n.names) == 0 {
			continue
		}
		verb, quoted := n.are, make([]string, 0, most+1)
		if len(n.names) == 1 {
			verb = n.is
		}
		for _, name := range n.names[:min(most, len(n.names))] {
			quoted = append(quoted, human.Quote(name))
		}
		if len(n.names) > most {
			quoted = append(quoted, "...")
		}
		found = append(found, Obstacle{human.Count(len(n.names), n.noun) + " " + verb + ": " + strings.Join(quoted, ", "), n.hint})
	}
	return found
}

// hidden returns the files that a person has told git not to look at, and that are there.
func (t *Tree) hidden(ctx context.Context) (names []string, err error) {
	var said bytes.Buffer
	if err := git.Dir(t.Path).Pipe(ctx, nil, &said, "ls-files", "-v", "-z"); err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(said.String(), "\x00"), "\x00") {
		tag, name, _ := strings.Cut(line, " ")
		if tag == "" || tag != "S" && tag == strings.ToUpper(tag) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(t.Path, name)); err == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// midwayFiles are what git leaves in its folder of a tree while something goes on.
var midwayFiles = map[string]string{
	"MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase", "CHERRY_PICK_HEAD": "a cherry-pick",
	"REVERT_HEAD": "a revert", "BISECT_LOG": "a bisection", "sequencer": "a cherry-pick or a revert", "index.lock": "a command",
}

func (t *Tree) midway(ctx context.Context) (all []Obstacle, err error) {
	dir, err := t.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	for name, what := range midwayFiles {
		switch _, err := os.Lstat(filepath.Join(dir, name)); {
		case err == nil:
			all = append(all, Obstacle{what + " of git's has not ended there", "to see it: git -C " + human.ShellWord(t.Path) + " status"})
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return all, nil
}

// personsLock finds a lock of git's that is not the agent's: a person has said that the tree must stay.
func (t *Tree) personsLock(ctx context.Context) ([]Obstacle, error) {
	known, err := t.entry(ctx)
	if err != nil || known == nil || !known.isLocked || strings.HasPrefix(known.locked, ours) {
		return nil, err
	}
	why := ""
	if known.locked != "" {
		why = ": " + human.Quote(known.locked)
	}
	return []Obstacle{{"a person has locked it" + why, "to unlock it: git -C " + human.ShellWord(t.Path) + " worktree unlock ."}}, nil
}

// processes finds the processes that work in the tree, this one too, and those that have a file of it open. Those of
// other users cannot be asked.
func (t *Tree) processes(ctx context.Context, m *machine.Machine) (all []Obstacle, err error) {
	found, err := m.In(ctx, t.Path)
	if err != nil {
		return nil, err
	}
	for _, use := range found {
		does := "works in it"
		if use.File != "" {
			does = "has " + human.Quote(use.File) + " open"
		}
		all = append(all, Obstacle{
			"process " + strconv.Itoa(use.PID) + " (" + human.Quote(m.Name(use.PID)) + ") " + does, "to look at it: ps -fp " + strconv.Itoa(use.PID),
		})
	}
	return all, nil
}
