package cli

import (
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/inspect"
	"nbs-worker/internal/observe"
)

// step is one thing to do next about an agent: why, and the command that can be pasted.
// Some things no command does.
type step struct{ why, command string }

func (s step) String() string {
	if s.command == "" {
		return s.why
	}
	return s.why + ": " + s.command
}

// commandsOf are the commands of an advice. Pasted, they act on the project of this call.
func (f *factory) commandsOf(v inspect.View) []string {
	const lead = ": "
	commands := []string{}
	for _, s := range advice(v) {
		if s.command != "" {
			commands = append(commands, strings.TrimPrefix(f.pasteable(lead+s.command), lead))
		}
	}
	return commands
}

// advice is what to do next about an agent that is not as it should be, in order.
func advice(v inspect.View) []step {
	nbs := func(verb, why string) step { return step{why, fmt.Sprintf("nbs-worker %s %s", verb, v.Record.Handle)} }
	switch {
	case v.Dialog != "":
		return []step{nbs("attach", fmt.Sprintf("it asks %s; answer it there", v.Dialog.Question()))}
	case v.Status.State == agent.Waiting:
		return []step{nbs("attach", "it waits for a person")}
	case v.Status.State == agent.Dead && v.IsNotAllowed():
		return []step{nbs("allow", "look at what it would run, and allow it")}
	case v.Status.State == agent.Dead && v.Record.LaunchDesired() == agent.DesiredRunning:
		return afterDeath(v, nbs)
	case v.Status.State == agent.Dead:
		return nil
	case len(v.Strangers) > 0:
		return []step{{why: fmt.Sprintf("two claudes fork the conversation: end the other one, pid %d, in its own terminal", v.Strangers[0].PID)}}
	case len(v.Drift) > 0:
		return []step{nbs("attach", "what runs is not what is recorded; look")}
	case v.Status.SamePID && needsLogin(v):
		return []step{nbs("attach", "the API does not know who it is; log in there, with /login")}
	}
	return nil
}

// afterDeath is by the cause: nearly always the way back, and what is to be done before or after
// it so that the agent does not end the same way.
func afterDeath(v inspect.View, nbs func(verb, why string) step) []step {
	back := nbs("resume", "bring it back")
	switch {
	case observe.CrashLoop(&v.Record):
		words := nbs("session", "it ended again and again soon after its start; read its last words before all else")
		words.command += " --last-screen"
		return []step{words, nbs("resume", "when the reason is gone, bring it back")}
	case v.Status.Cause == agent.NeverStarted && v.Status.Detail != "":
		return []step{nbs("resume", "when that is mended, start it")}
	case needsLogin(v):
		return []step{back, nbs("attach", "then log in there, with /login")}
	case v.Status.Cause == agent.OutOfMemory:
		return []step{{"see what takes the memory, or it will end like this again", "ps -eo rss,pid,args --sort=-rss | head"}, back}
	case v.Status.Cause == agent.Exited:
		return []step{back, nbs("dismiss", "or forget it; the journal keeps its session id")}
	default:
		return []step{back}
	}
}

// needsLogin tells whether the last turn failed because nobody is logged in.
func needsLogin(v inspect.View) bool {
	return v.LastError != nil && v.LastError.Class == inspect.ClassAuthentication
}
