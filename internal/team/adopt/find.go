package adopt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/team/lineage"
)

// handStarted is a claude that was started by hand, according to the kernel and Claude's registry.
type handStarted struct {
	lineage.Process

	configDir string // in the form of a record: "" is Claude's default
	config    claude.Config
	live      live.Entry
}

// find looks at a process, and refuses one that cannot be adopted. Errors: NotFound; BadInput; Conflict; Held.
func (s search) find(pid int) (handStarted, error) {
	id, err := s.identify(pid)
	if err != nil {
		return handStarted{}, err
	}
	if owner, ours := s.project.Lineage().OwnerOf(id); ours {
		return handStarted{}, errOwned(s, id.PID, owner)
	}
	f := handStarted{Process: lineage.Look(s.project.Machine, pid)}
	if f.Unseen != nil {
		return f, f.Unseen
	}
	if turn, isTurns := lineage.TurnOf(s.project.Machine, pid); isTurns {
		return f, errTurns(pid, turn)
	}
	if name := claude.Forgetful(f.Variable); name != "" && cmdline.IsClaude(f.Cmdline) {
		return f, fail.Errorf(fail.BadInput, "pid %d was started with %s in its environment: it writes no transcript, so it cannot be resumed", pid, name).
			Hint("end it with /exit and start an agent: nbs-worker spawn HANDLE")
	}
	if err := s.readRegistry(&f); err != nil {
		return f, err
	}
	if !f.live.Interactive() {
		return f, fail.Errorf(fail.BadInput, "pid %d is not a session at a terminal: kind %s, entry point %s", pid, human.Quote(f.live.Kind), human.Quote(f.live.Entrypoint)).
			Hint("to see what can be adopted: nbs-worker adopt --list")
	}
	if err := f.checkTranscript(); err != nil {
		return f, err
	}
	return f, f.checkFolder()
}

// checkTranscript refuses a claude whose environment is hidden and that has no transcript. A variable may keep it from
// writing one, and then it cannot be resumed.
func (f *handStarted) checkTranscript() error {
	if _, found, err := f.config.Transcript(f.live.SessionID); !f.Hidden || found || err != nil {
		return err
	}
	return fail.Errorf(fail.Held, "pid %d has no transcript, and its environment is hidden: it may be one that writes none", f.PID).
		Hint("write to it in its terminal; when it has answered, repeat the command")
}

// errTurns returns the error for adopting a headless claude of ours.
func errTurns(pid int, turn lineage.Turn) error {
	if turn.Converses {
		return fail.Errorf(fail.BadInput, "pid %d answers a conversation of nbs-worker ask, and is not an agent", pid).
			Hint("to see the conversations: nbs-worker conversation list")
	}
	return fail.Errorf(fail.BadInput, "pid %d observes an agent for the memory, and is not an agent", pid).
		Hint("to see who is observed: nbs-worker memory status")
}

// identify returns the identity of a process of this user, or the reason why it cannot.
func (s search) identify(pid int) (agent.Identity, error) {
	uid, err := s.project.Machine.Owner(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Identity{}, fail.Errorf(fail.NotFound, "there is no process %d", pid).
			Hint("to see what can be adopted: nbs-worker adopt --list")
	}
	if err != nil {
		return agent.Identity{}, err
	}
	id, err := s.project.Machine.Identify(pid)
	if errors.Is(err, fs.ErrNotExist) {
		return id, fail.Errorf(fail.NotFound, "process %d has ended: it is a zombie until its parent waits for it", pid)
	}
	if err == nil && uid != s.project.UID {
		err = fail.Errorf(fail.BadInput, "process %d belongs to user id %d", pid, uid).
			Hint("run the command as that user")
	}
	return id, err
}

func errOwned(s search, pid int, o lineage.Owner) error {
	if o.Project == s.project.Store.Project() {
		return fail.Errorf(fail.Conflict, "process %d is already agent %s", pid, o.Handle).Hint("nbs-worker session %s", o.Handle)
	}
	return fail.Errorf(fail.Conflict, "process %d is agent %s of the project %s", pid, o.Handle, human.Quote(o.Project)).
		Hint("nbs-worker --root %s session %s", human.ShellWord(o.Project), o.Handle)
}

// readRegistry finds the configuration of the process, which its environment names, and its entry there. If the
// environment is hidden, it looks in the configuration of the caller. It ignores an entry of an earlier process with the
// same pid.
func (s search) readRegistry(f *handStarted) error {
	var err error
	f.configDir = claude.ConfigDirIn(f.Cwd, f.Variable(claude.ConfigDirVariable))
	if f.Hidden {
		if f.configDir, err = s.project.CallersConfigDir(); err != nil {
			return err
		}
	} else if home := f.Variable("HOME"); f.configDir == "" && home != os.Getenv("HOME") && cmdline.IsClaude(f.Cmdline) {
		return fail.Errorf(fail.BadInput, "pid %d has its configuration below HOME=%s, and your HOME is %s", f.PID, human.Quote(home), human.Quote(os.Getenv("HOME"))).
			Hint("run this command, and all later ones for the agent, with that HOME")
	}
	if f.config, err = claude.ConfigAt(f.configDir); err != nil {
		return err
	}
	f.live, err = f.config.Registry().Entry(f.PID)
	if err == nil && f.live.Start.Is(f.StartTicks) {
		return nil
	}
	if !cmdline.IsClaude(f.Cmdline) {
		return fail.Errorf(fail.BadInput, "pid %d is not a claude: %s", f.PID, human.Quote(strings.Join(f.Cmdline, " "))).
			Hint("to see what can be adopted: nbs-worker adopt --list")
	}
	return fail.Errorf(fail.Held, "pid %d is not in Claude's registry: it is starting, or it waits at its first dialog", f.PID).
		Hint("answer the question in its terminal, then repeat the command")
}

// startedIn returns the folder in which claude is started again. If its session has entered a worktree, that is the
// folder from which it did so, because claude goes back by itself. Otherwise it is the present folder.
func (f *handStarted) startedIn() string {
	file, found, err := f.config.Transcript(f.live.SessionID)
	if err != nil || !found {
		return f.Cwd
	}
	if entered, err := file.Entered(); err == nil && entered.Worktree == f.live.Cwd && folder.Exists(entered.From) {
		return entered.From
	}
	return f.Cwd
}

func (f *handStarted) checkFolder() error {
	if info, err := os.Stat(f.Cwd); err == nil && info.IsDir() {
		return nil
	}
	return fail.Errorf(fail.NotFound, "the working directory of pid %d no longer exists: %s", f.PID, human.Quote(f.Cwd)).
		Hint("put the folder back, then repeat the command")
}

// claudeIn finds the only claude of a tmux session, in the server that the call names or in the user's own.
func (s search) claudeIn(ctx context.Context, session string) (int, error) {
	client, err := s.project.Tmux(s.project.SocketFor(nil))
	if err != nil {
		return 0, err
	}
	panes, err := client.Panes(ctx)
	if err != nil {
		return 0, err
	}
	var ids []string
	leader := 0
	for _, pane := range panes {
		if pane.Session == session && !slices.Contains(ids, pane.ID) {
			ids, leader = append(ids, pane.ID), pane.PID
		}
	}
	switch {
	case len(ids) == 0:
		return 0, fail.Errorf(fail.NotFound, "there is no tmux session %s", human.Quote(session)).
			Hint("to see what can be adopted, in any server: nbs-worker adopt --list")
	case len(ids) > 1:
		return 0, fail.Errorf(fail.BadInput, "the tmux session %s has %d panes", human.Quote(session), len(ids)).
			Hint("name the process: nbs-worker adopt HANDLE --pid PID; nbs-worker adopt --list shows them")
	}
	return s.claudeBelow(leader, session)
}

// claudeBelow finds the claude that is a pane's first process or was started by it. It ignores claudes that this
// claude's own tools run.
func (s search) claudeBelow(leader int, session string) (int, error) {
	below, err := s.project.Machine.Descendants(leader)
	if err != nil {
		return 0, err
	}
	var claudes []int
	candidates := agent.Mapped(below, func(id agent.Identity) int { return id.PID }) // parents before children
	for _, pid := range append([]int{leader}, candidates...) {
		isBelow := slices.ContainsFunc(s.project.Machine.AncestorsOf(pid), func(a int) bool { return slices.Contains(claudes, a) })
		if !isBelow && lineage.Look(s.project.Machine, pid).IsClaude() {
			claudes = append(claudes, pid)
		}
	}
	switch len(claudes) {
	case 1:
		return claudes[0], nil
	case 0:
		return 0, fail.Errorf(fail.BadInput, "no claude runs in the tmux session %s", human.Quote(session)).
			Hint("to see what can be adopted: nbs-worker adopt --list")
	}
	return 0, fail.Errorf(fail.BadInput, "%d claudes run in the tmux session %s", len(claudes), human.Quote(session)).
		Hint("name the process: nbs-worker adopt HANDLE --pid %d", claudes[0])
}
