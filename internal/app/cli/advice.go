package cli

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

// step is one thing to do next about an agent: the reason, and the command to paste. Some steps have no command.
type step struct{ why, command string }

func (s step) String() string {
	if s.command == "" {
		return s.why
	}
	return s.why + ": " + s.command
}

// commandsOf are the commands of an advice. Pasted, they act on the project of this call.
func (f *factory) commandsOf(v inspect.View, bands agent.Bands) []string {
	return f.commandsFor(advice(v, bands))
}

func (f *factory) commandsFor(steps []step) []string {
	const lead = ": "
	commands := []string{}
	for _, s := range steps {
		if s.command != "" {
			commands = append(commands, strings.TrimPrefix(f.pasteable(lead+s.command), lead))
		}
	}
	return commands
}

// isOfNextStart reports whether a record differs from its process only in fields that set changed for the next start.
func isOfNextStart(drift []observe.Drift) bool {
	return !slices.ContainsFunc(drift, func(d observe.Drift) bool { return d.Field != "model" && d.Field != "permission_mode" })
}

// advice returns what to do next about an agent that is not well, in order.
func advice(v inspect.View, bands agent.Bands) []step {
	known := triage.Known{View: &v, Handle: v.Record.Handle, Now: time.Now(), Bands: bands}
	steps := slices.DeleteFunc(triage.Assess(known).Steps, func(s triage.Step) bool { return s == triage.Look || s == triage.AwaitReset })
	return inWords(steps, v.Record.Handle, v)
}

func inWords(steps []triage.Step, handle agent.Handle, v inspect.View) []step {
	return agent.Mapped(steps, func(next triage.Step) step { return worded(next, handle, v) })
}

// worded returns a step of triage in words and as a command, for the agent of a view.
func worded(next triage.Step, handle agent.Handle, v inspect.View) step {
	nbs := func(verb string) string { return fmt.Sprintf("nbs-worker %s %s", verb, handle) }
	switch next {
	case triage.Answer:
		return step{fmt.Sprintf("it asks %s; answer it there", v.Dialog.Question()), nbs("attach")}
	case triage.Attend:
		return step{"it waits for a person", nbs("attach")}
	case triage.Allow:
		return step{"look at what it would run, and allow it", nbs("allow")}
	case triage.EndOther:
		return step{fmt.Sprintf("two claudes fork the conversation: end the other one, pid %d, in its own terminal", v.Strangers[0].PID), ""}
	case triage.LookAtDrift:
		if isOfNextStart(v.Drift) {
			return step{"it runs with another model or mode than is recorded; to end it, and start it as recorded", nbs("resume") + " --force"}
		}
		return step{"what runs is not what is recorded; look", nbs("attach")}
	case triage.MakeRoom:
		return step{"make room there, or what is said to it is lost with its process", dfOf(v)}
	case triage.LogIn:
		return step{"the API does not know who it is; log in there, with /login", nbs("attach")}
	case triage.LogInAfter:
		return step{"then log in there, with /login", nbs("attach")}
	case triage.ReadEnd:
		return step{"it ended again and again soon after its start; read its last words before all else", nbs("session") + " --last-screen"}
	case triage.ResumeMended:
		return step{"when the reason is gone, bring it back", nbs("resume")}
	case triage.StartMended:
		return step{"when that is mended, start it", nbs("resume")}
	case triage.FindMemory:
		return step{"see what takes the memory, or it will end like this again", "ps -eo rss,pid,args --sort=-rss | head"}
	case triage.Interrupt:
		return step{"it does not get on; interrupt it", nbs("interrupt")}
	case triage.Compact:
		return step{"its conversation is nearly full; compact it", nbs("compact")}
	case triage.StartFresh:
		if v.Status.Running() {
			return step{"end it, and begin a new conversation", nbs("resume") + " --force --fresh"}
		}
		return step{"give the conversation up, and begin a new one", nbs("resume") + " --fresh"}
	case triage.ResumeForce:
		return step{"end it, and bring it back", nbs("resume") + " --force"}
	case triage.Prompt:
		return step{"its last turn came to nothing; say on", nbs("send") + " 'Go on.'"}
	case triage.FindFolder:
		return step{"put the folder back, or name the one where it is to work", nbs("resume") + " --cwd DIR"}
	case triage.AwaitReset, triage.Look:
		return step{"look", nbs("session")}
	case triage.Dismiss:
		return step{"or forget it; the journal keeps its session id", nbs("dismiss")}
	case triage.Resume:
	}
	return step{"bring it back", nbs("resume")}
}

// dfOf returns the command that shows the disk of an agent's transcript; "" before the transcript exists.
func dfOf(v inspect.View) string {
	if v.Transcript == nil {
		return ""
	}
	return "df -h " + human.ShellWord(filepath.Dir(v.Transcript.Path))
}
