package hosts

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/move"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/trust"
)

const here = host.Here

type moveOptions struct {
	to                     string
	force, noStart, cancel bool
	trust, lost, yes       bool
}

func newMoveCmd(f *ui.Factory) *cobra.Command {
	var o moveOptions
	cmd := &cobra.Command{
		Use:   "move <handle> {--to HOST | --to here | --cancel [--lost]}",
		Short: "Move an agent to another machine, with its conversation",
		Long: ui.WithCodes(`Moves an agent from this machine or a host to another of them. Its record, its
conversations, what is remembered of it and its waiting messages go along. With a worktree,
its commits and all its files go along too, and the tree is removed where it was: git keeps it
in a ref there. What was staged is unstaged. The agent must be idle; it is ended and started
again in the same conversation. It is not told.

Details:

Everything that can be checked is checked first: the name is free there, claude and tmux can be
started, its folder is in the project or is there too, and with a worktree the project there is
a clone of the repository. Claude's transcript is put where any version of Claude looks for it in
the new folder.

The agent is always at one machine only. If move was interrupted or killed, the same command
completes it, and doctor at both machines names that command. Until then the agent cannot be
started. While it has not left, --cancel keeps it where it is. If it has left, and the other
machine is lost for good, --cancel --lost brings it back as it was when it left, after a
question. Costs and budgets begin at zero where it arrives, and team.yaml may still name it here.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker move theologian --to build1
  nbs-worker move theologian@build1 --to here
  nbs-worker move theologian@build1 --to build2 --no-start`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "move: one handle is needed, %d given", len(args)).Hint("nbs-worker move HANDLE --to HOST")
		},
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			named, _ := cmd.Flags().GetString("host")
			return ui.Failed(runMove(cmd.Context(), f, args[0], named, o), "move", args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.to, "to", "", "the host that it moves to, or here")
	ui.CompleteWith(cmd, "to", completePlaces(f))
	flags.BoolVar(&o.force, "force", false, "also in the middle of a turn or at a dialog")
	flags.BoolVar(&o.noStart, "no-start", false, "leave it stopped where it arrives")
	flags.BoolVar(&o.trust, "trust", false, "have Claude trust its folder there, if that is in the project")
	flags.BoolVar(&o.cancel, "cancel", false, "keep an agent that has not left yet")
	flags.BoolVar(&o.lost, "lost", false, "with --cancel: it has left, and the other machine is lost for good")
	flags.BoolVar(&o.yes, "yes", false, "with --lost: do not ask")
	return f.WithJSON(cmd)
}

// completePlaces completes where an agent can go.
func completePlaces(f *ui.Factory) ui.Completion {
	return func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names, directive := f.CompleteHosts(cmd, nil, toComplete)
		return append(names, here+"\tthis machine"), directive
	}
}

// place is a machine that a move names.
type place struct {
	move.Place
	name string // as the other machine shows it
	word string // as it is typed
}

// at says where the place is, as a person types it.
func (p *place) at() string {
	if p.word == here {
		return here
	}
	return "at " + p.word
}

func runMove(ctx context.Context, f *ui.Factory, word, named string, o moveOptions) error {
	if err := f.CheckPerson("move an agent"); err != nil {
		return err
	}
	handle, at := host.Split(word)
	from, err := placeOf(f, cmp.Or(at, named, here))
	if err != nil {
		return err
	}
	h, err := agent.ParseHandle(handle)
	if err != nil {
		return err
	}
	switch {
	case o.cancel && o.to != "":
		return fail.Errorf(fail.BadInput, "--to and --cancel exclude each other")
	case (o.lost || o.yes) && !o.cancel || o.yes && !o.lost:
		return fail.Errorf(fail.BadInput, "--lost belongs to --cancel, and --yes to --lost")
	case o.lost:
		return runLost(ctx, f, h, from, o.yes)
	case o.cancel:
		return runCancel(ctx, f, h, from)
	case o.to == "":
		return fail.Errorf(fail.BadInput, "it needs --to").Hint("nbs-worker move %s --to HOST; to see the hosts: nbs-worker host list", word)
	}
	to, err := placeOf(f, o.to)
	if err != nil {
		return err
	}
	if from.word == to.word {
		return fail.Errorf(fail.BadInput, "%s is where it is", human.Quote(o.to))
	}
	spools := &spools{}
	defer spools.close()
	begun, made := false, to.word == here && !hasProject(f)
	moved, err := move.Run(ctx, move.Order{
		Handle: h, From: from, To: to, FromName: from.name, ToName: to.name, AtFrom: from.at(), AtTo: to.at(), Force: o.force, NoStart: o.noStart, Trust: o.trust,
		Command: commandOf(h, from, to, o), Cancel: cancelOf(h, from), Drop: func(id, at string) { dropAt(ctx, f, at, id) },
		Find: func(id string) string { return projectOf(f, id) }, Spool: spools.next,
		Tell: func(what string) { begun = true; f.Note("%s: %s", h, what) },
		Note: func(what string) { f.Say("move %s: %s, %s", h, to.at(), what) },
	})
	if made && hasProject(f) {
		root, _ := f.Founding()
		f.Say("move %s: there was no project here; it made one, in %s", h, human.Quote(root))
	}
	if err != nil {
		return unfinished(err, begun, commandOf(h, from, to, o))
	}
	return f.ShowOne(movedOutcome(f, h, from, to, moved))
}

// unfinished adds to the error of a move that has begun how it is completed. A connection that was cut leaves that open.
func unfinished(err error, begun bool, command string) error {
	const hint = "to complete the move: "
	isOpen := fail.KindOf(err) == fail.TimedOut || fail.KindOf(err) == fail.Interrupted
	if !begun || !isOpen || slices.ContainsFunc(fail.HintsOf(err), func(h string) bool { return strings.HasPrefix(h, hint) }) {
		return err
	}
	return fail.Errorf(fail.KindOf(err), "%w; the move is not complete", err).Hint(hint+"%s", command)
}

// hasProject reports whether this folder has a project, or is in one.
func hasProject(f *ui.Factory) bool {
	root, err := f.Founding()
	if err == nil {
		_, err = os.Lstat(filepath.Join(root, ".nbs"))
	}
	return err == nil
}

// projectOf finds a project of the user on this machine by its id as a place, or "".
func projectOf(f *ui.Factory, id string) string {
	home, err := trust.HomeOf(os.Environ())
	if err != nil || id == "" {
		return ""
	}
	known, _ := f.KnownProjects().Known() // without them it cannot be said
	key := trust.NewKeeper(home)
	for _, p := range known {
		if its, err := moves.PlaceIDOf(key, p.Path); err == nil && its == id {
			return p.Path
		}
	}
	return ""
}

// commandOf returns the command line that completes a move.
func commandOf(h agent.Handle, from, to place, o moveOptions) string {
	line := "nbs-worker move " + wordOf(h, from) + " --to " + to.word
	if o.noStart {
		line += " --no-start"
	}
	if o.trust {
		line += " --trust"
	}
	return line
}

func cancelOf(h agent.Handle, from place) string {
	return "nbs-worker move " + wordOf(h, from) + " --cancel"
}

// wordOf returns an agent at a place as it is typed.
func wordOf(h agent.Handle, at place) string {
	if at.word == here {
		return string(h)
	}
	return string(h) + "@" + at.word
}

func movedOutcome(f *ui.Factory, h agent.Handle, from, to place, moved move.Moved) ui.Outcome {
	r := &moved.Record
	if moved.TreeLeft != "" {
		f.Say("move %s: its worktree stays %s: %s", h, from.at(), moved.TreeLeft)
	}
	if moved.Dropped > 0 {
		f.Say("move %s: dropped %s that no command of yours wrote; the journal there has the beginning of each", h, human.Count(moved.Dropped, "message"))
	}
	if moved.NoTree {
		f.Say("move %s: its worktree there has no branch: %s is in use", h, r.OwnWorktree.Branch)
	}
	words := fmt.Sprintf("moved from %s to %s, session %s, in %s", from.word, to.word, r.SessionID, human.Quote(r.LaunchCwd()))
	if moved.Started {
		words += ", started again: " + moved.State
	}
	return ui.Outcome{Handle: h, Words: words, JSON: wire.Moved{
		Handle: h, SessionID: r.SessionID, From: from.word, To: to.word, Cwd: r.LaunchCwd(), Started: moved.Started, State: moved.State,
		TreeLeft: moved.TreeLeft, Dropped: moved.Dropped, NoBranch: moved.NoTree,
	}}
}

// spools are the private files in which packages wait between two machines.
type spools struct{ all []*os.File }

func (s *spools) next() (io.ReadWriteSeeker, error) {
	file, err := os.CreateTemp("", "nbs-worker-move-*") // of mode 0600
	if err != nil {
		return nil, fmt.Errorf("make a file for the package: %w", err)
	}
	s.all = append(s.all, file)
	return file, os.Remove(file.Name()) // a killed command leaves none
}

func (s *spools) close() {
	for _, file := range s.all {
		_ = file.Close()
	}
}
