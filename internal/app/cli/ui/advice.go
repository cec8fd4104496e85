package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/triage"
)

// Step is one thing to do next about an agent: the reason, and the command to paste. Some steps have no command.
type Step struct{ why, Command string }

func (s Step) String() string {
	if s.Command == "" {
		return s.why
	}
	return s.why + ": " + s.Command
}

// CommandsOf are the commands of an advice. Pasted, they act on the project of this call.
func (f *Factory) CommandsOf(v inspect.View, bands agent.Bands) []string {
	return f.CommandsFor(Advice(v, bands))
}

// CommandsFor returns the commands of some steps, as they can be pasted.
func (f *Factory) CommandsFor(steps []Step) []string {
	const lead = ": "
	commands := []string{}
	for _, s := range steps {
		if s.Command != "" {
			commands = append(commands, strings.TrimPrefix(f.Pasteable(lead+s.Command), lead))
		}
	}
	return commands
}

func isOutOfWorktree(drift []observe.Drift) bool {
	return slices.ContainsFunc(drift, func(d observe.Drift) bool { return d.Field == observe.FieldWorktree })
}

// isOfNextStart reports whether a record differs from its process only in fields that set changed for the next start.
func isOfNextStart(drift []observe.Drift) bool {
	return !slices.ContainsFunc(drift, func(d observe.Drift) bool { return d.Field != "model" && d.Field != "permission_mode" })
}

// Advice returns what to do next about an agent that is not well, in order.
func Advice(v inspect.View, bands agent.Bands) []Step {
	known := triage.Known{View: &v, Handle: v.Record.Handle, Now: time.Now(), Bands: bands}
	steps := slices.DeleteFunc(triage.Assess(known).Steps, func(s triage.Step) bool { return s == triage.Look || s == triage.AwaitReset })
	return InWords(steps, v.Record.Handle, v)
}

// InWords returns what to do for each step of a triage.
func InWords(steps []triage.Step, handle agent.Handle, v inspect.View) []Step {
	return agent.Mapped(steps, func(next triage.Step) Step { return worded(next, handle, v) })
}

// worded returns a step of triage in words and as a command, for the agent of a view.
func worded(next triage.Step, handle agent.Handle, v inspect.View) Step {
	nbs := func(verb string) string { return fmt.Sprintf("nbs-worker %s %s", verb, handle) }
	switch next {
	case triage.Answer, triage.Attend:
		return answerStep(next, v, nbs)
	case triage.Allow:
		return Step{"review what it would run, and allow it", nbs("allow")}
	case triage.EndOther:
		return Step{fmt.Sprintf("two claudes have the conversation open, which forks it; end the other one, pid %d, in its terminal", v.Strangers[0].PID), ""}
	case triage.LookAtDrift:
		if isOutOfWorktree(v.Drift) {
			return Step{"it works outside of its worktree; end it, and start it again", nbs("resume") + " --force"}
		}
		if isOfNextStart(v.Drift) {
			return Step{"its model or permission mode differs from the record; end it, and start it as recorded", nbs("resume") + " --force"}
		}
		return Step{"what runs differs from the record; look at it", nbs("attach")}
	case triage.MakeRoom:
		return Step{"free disk space there, or its conversation is lost when its process ends", dfOf(v)}
	case triage.LogIn:
		return Step{"it is not logged in; type /login in its terminal", nbs("attach")}
	case triage.LogInAfter:
		return Step{"then type /login in its terminal", nbs("attach")}
	case triage.ReadEnd:
		return Step{"it failed again and again; read its last output first", nbs("session") + " --last-screen"}
	case triage.ResumeMended:
		return Step{"when the cause is fixed, bring it back", nbs("resume")}
	case triage.StartMended:
		return Step{"when that is fixed, start it", nbs("resume")}
	case triage.FindMemory:
		return Step{"see what uses the memory, or this will happen again", "ps -eo rss,pid,args --sort=-rss | head"}
	case triage.Interrupt:
		return Step{"it makes no progress; interrupt it", nbs("interrupt")}
	case triage.Compact:
		return Step{"its conversation is nearly full; compact it", nbs("compact")}
	case triage.StartFresh:
		if v.Status.Running() {
			return Step{"end it, and start a new conversation", nbs("resume") + " --force --fresh"}
		}
		return Step{"give up the conversation, and start a new one", nbs("resume") + " --fresh"}
	case triage.ResumeForce:
		return Step{"end it, and bring it back", nbs("resume") + " --force"}
	case triage.Prompt:
		return Step{"its last turn failed; tell it to continue", nbs("send") + " 'Go on.'"}
	case triage.FindFolder:
		return Step{"restore the folder, or name another one", nbs("resume") + " --cwd DIR"}
	case triage.AwaitReset, triage.Look:
		return Step{"look", nbs("session")}
	case triage.Dismiss:
		return Step{"or remove it; the journal keeps its session id", nbs("dismiss")}
	case triage.Resume:
	}
	return Step{"bring it back", nbs("resume")}
}

// answerStep returns how to answer an agent that waits for a person.
func answerStep(next triage.Step, v inspect.View, nbs func(verb string) string) Step {
	switch {
	case v.Requested:
		return Step{"it asks a person; to see what, and to answer", nbs("requests")}
	case next == triage.Attend:
		return Step{"it waits for a person", nbs("attach")}
	}
	return Step{fmt.Sprintf("it asks %s; answer in its terminal", v.Dialog.Question()), nbs("attach")}
}

// dfOf returns the command that shows the disk of an agent's transcript; "" before the transcript exists.
func dfOf(v inspect.View) string {
	if v.Transcript == nil {
		return ""
	}
	return "df -h " + human.ShellWord(filepath.Dir(v.Transcript.Path))
}
