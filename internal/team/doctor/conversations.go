package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/team/lineage"
)

func (d *examination) damagedConversations(_ context.Context) findings {
	_, err := d.project.Store.Conversations().Keys()
	if err == nil {
		return nil
	}
	return found(Failure, "some conversations cannot be read: "+oneLine(err), "their turns are not answered while that is so", fail.HintsOf(err)...)
}

// deadLetters looks for turns that block their conversation until a person decides.
func (d *examination) deadLetters(_ context.Context) (all findings) {
	keys, _ := d.project.Store.Conversations().WithWork() // damagedConversations reports those that cannot be read
	for _, key := range keys {
		state, err := d.project.Store.Conversations().Of(key).State()
		if err != nil || len(state.Open) == 0 {
			continue
		}
		head, named := state.Open[0], human.ShellWord(string(key))
		if head.Held == nil || !head.Held.NeedsPerson() {
			continue
		}
		f := all.add(Warning, fmt.Sprintf("turn %d of the conversation %s is held, and probably waits for a person: %s", head.Seq, human.Quote(string(key)), head.Held.Reason),
			fmt.Sprintf("the turns after it wait too; %s open", human.Count(len(state.Open), "turn")),
			"to try it again: nbs-worker conversation retry "+named, "to give it up: nbs-worker conversation skip "+named)
		f.about = fmt.Sprintf("%s %d", key, head.Seq)
	}
	return all
}

// leftTurns finds the claudes of turns whose runner has ended; the runner of the next turn ends them.
func (d *examination) leftTurns(_ context.Context) (all findings) {
	claudes, _ := d.claudes() // team.unrecorded says what is wrong
	for _, one := range claudes {
		turn, isTurns := lineage.TurnOf(d.project.Machine, one.PID)
		if !isTurns {
			continue
		}
		if !isOrphan(d.project.Machine.AncestorsOf(one.PID), d.project.Machine.Name) || isBelow(d.project.Machine, one.PID, filepath.Base(d.project.Program)) {
			continue
		}
		next := "the next turn of its conversation ends it"
		if !turn.Converses {
			next = "it observed an agent; the next memory work of its project ends it"
		}
		all.add(Note, fmt.Sprintf("the claude of a turn still runs, pid %d, and the process that started it has ended", one.PID),
			next, d.hintKill(one.PID, "to end it now: kill %d")...)
	}
	return all
}

// isOrphan reports whether a process may have been given a new parent: the first process, or the user's systemd.
// chain is the process and its ancestors; if the process has just ended, the chain has only the process.
func isOrphan(chain []int, name func(pid int) string) bool {
	return len(chain) > 1 && (chain[1] == 1 || name(chain[1]) == "systemd")
}

// isBelow reports whether a running program of ours started a process.
func isBelow(m *machine.Machine, pid int, program string) bool {
	return slices.ContainsFunc(m.AncestorsOf(pid)[1:], func(above int) bool { return m.Program(above) == program })
}
