package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// runningClaude is a process with claude's name, whether or not nbs-worker started it.
type runningClaude struct {
	lineage.Process
	session agent.SessionID // "": unknown
}

// runningClaudes reads all processes of the machine once, for all agents.
func (d *examination) runningClaudes() ([]runningClaude, error) {
	ids, err := d.project.Machine.Find("claude", cmdline.IsClaude)
	if err != nil {
		return nil, err
	}
	var all []runningClaude
	for _, id := range ids {
		if p := lineage.Look(d.project.Machine, id.PID); p.Unseen == nil { // otherwise it has ended
			all = append(all, runningClaude{p, sessionOf(p)})
		}
	}
	return all, nil
}

// sessionOf returns the conversation of a claude: from Claude's registry, otherwise from its command line.
func sessionOf(p lineage.Process) agent.SessionID {
	if entry, registered := p.Entry(); registered {
		return entry.SessionID
	}
	args, _ := cmdline.ReadArgs(p.Cmdline)
	session, _ := agent.ParseSessionID(args.SessionID)
	return session
}

// unrecordedClaudes finds claudes that have this project's mark and are in no record.
func (d *examination) unrecordedClaudes(_ context.Context) (all findings) {
	claudes, err := d.claudes()
	if err != nil {
		return found(Warning, "the processes of this machine cannot be listed: "+oneLine(err), "a claude without a record would not be found")
	}
	known := d.invocations()
	for _, one := range claudes {
		if one.Root() != d.project.Store.Project() || one.Handle() == "" || known[one.Mark()] || d.atWork(one.Handle()) {
			continue
		}
		all.add(Failure, fmt.Sprintf("a claude of this project runs as %s, pid %d, and no record names it", human.Quote(string(one.Handle())), one.PID),
			"no list shows it, and the agent can be started a second time beside it", d.rescue(one)...)
	}
	return all
}

// atWork reports whether another command holds the verb lock of an agent.
func (d *examination) atWork(handle agent.Handle) bool {
	_, atWork := observe.VerbAtWork(d.project.Machine, d.project.Store, handle, filepath.Base(d.project.Program))
	return atWork
}

// hintKill returns the commands to look at a process and to end it. A very young process may belong to a start that
// is not recorded yet; for it, it returns only the first command.
func (d *examination) hintKill(pid int, hint string) []string {
	fixes := []string{fmt.Sprintf("to look at it: ps -fp %d", pid)}
	const startsWithin = 10 * time.Second
	if age, err := d.project.Machine.Age(pid); err != nil || age < startsWithin {
		return fixes
	}
	return append(fixes, fmt.Sprintf(hint, pid))
}

// rescue returns the commands to look at a claude without a record, and to continue its conversation.
func (d *examination) rescue(one runningClaude) []string {
	if _, err := agent.ParseHandle(string(one.Handle())); err != nil || one.session == "" {
		return d.hintKill(one.PID, "to end it: kill %d")
	}
	return append(d.hintKill(one.PID, "to end it and keep its conversation: kill %d"),
		fmt.Sprintf("when it has ended, continue its conversation: nbs-worker spawn %s-2 --session-id %s", one.Handle(), one.session))
}

// invocations returns the starts in the records.
func (d *examination) invocations() map[agent.Invocation]bool {
	known := map[agent.Invocation]bool{}
	for _, row := range d.known() {
		if row.Record.Process != nil {
			known[row.Record.Process.Invocation] = true
		}
	}
	return known
}

func (d *examination) unrecordedSessions(ctx context.Context) (all findings) {
	known := d.invocations()
	for _, client := range d.servers() {
		panes, err := client.Panes(ctx)
		if err != nil {
			continue // team.health says so
		}
		for _, pane := range panes {
			if pane.Invocation == "" || known[pane.Invocation] || !strings.HasPrefix(pane.Session, "nbs-") {
				continue
			}
			if cwd, err := d.project.Machine.Cwd(pane.PID); err != nil || cwd != d.project.Store.Project() {
				continue // another project's
			}
			if !lineage.TakesUp(d.project.Machine, pane.PID, pane.Invocation) {
				continue // a person has taken the pane over
			}
			f := all.add(Warning, fmt.Sprintf("the tmux session %s was created for an agent of this project, and no record names it", human.Quote(pane.Session)),
				"no list shows what runs in it", fmt.Sprintf("to see it: tmux -S %s attach -t '=%s'", human.ShellWord(client.Path()), pane.Session))
			f.about = string(pane.Invocation) // the session of the agent's next start has the same name
		}
	}
	return all
}
