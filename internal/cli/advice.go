package cli

import (
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/supervisor"
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

// nextLines are the lines that say what to do next.
func (f *factory) nextLines(v supervisor.View) []line {
	var lines []line
	for _, s := range advice(v) {
		lines = append(lines, line{"Next", f.pasteable(s.String())})
	}
	return lines
}

// commandsOf are the commands of an advice. Pasted, they act on the project of this call.
func (f *factory) commandsOf(v supervisor.View) []string {
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
func advice(v supervisor.View) []step {
	attach := fmt.Sprintf("nbs-worker attach %s", v.Record.Handle)
	switch {
	case v.Dialog != "":
		return []step{{fmt.Sprintf("it asks %s; answer it there", v.Dialog.Question()), attach}}
	case v.Status.State == agent.Waiting:
		return []step{{"it waits for a person", attach}}
	case v.Status.State == agent.Dead && v.IsNotAllowed():
		return []step{{"look at what it would run, and allow it", fmt.Sprintf("nbs-worker allow %s", v.Record.Handle)}}
	case v.Status.State == agent.Dead:
		return adviceOfDead(v)
	case len(v.Strangers) > 0:
		return []step{{fmt.Sprintf("two claudes fork the conversation: end the other one, pid %d, in its own terminal", v.Strangers[0].PID), ""}}
	case len(v.Drift) > 0:
		return []step{{"what runs is not what is recorded; look", attach}}
	case v.Status.SamePID && needsLogin(v):
		return []step{{"the API does not know who it is; log in there, with /login", attach}}
	}
	return nil
}

// adviceOfDead is by the cause: nearly always the way back, and what is to be done before
// or after it so that the agent does not end the same way.
func adviceOfDead(v supervisor.View) []step {
	handle := v.Record.Handle
	resume := fmt.Sprintf("nbs-worker resume %s", handle)
	back := step{"bring it back", resume}
	switch {
	case v.Record.LaunchDesired() != agent.DesiredRunning:
		return nil
	case observe.CrashLoop(&v.Record):
		return []step{
			{"it ended again and again soon after its start; read its last words before all else", fmt.Sprintf("nbs-worker session %s --last-screen", handle)},
			{"when the reason is gone, bring it back", resume},
		}
	case v.Status.Cause == agent.NeverStarted && v.Status.Detail != "":
		return []step{{"when that is mended, start it", resume}}
	case needsLogin(v):
		return []step{back, {"then log in there, with /login", fmt.Sprintf("nbs-worker attach %s", handle)}}
	case v.Status.Cause == agent.OutOfMemory:
		return []step{{"see what takes the memory, or it will end like this again", "ps -eo rss,pid,args --sort=-rss | head"}, back}
	case v.Status.Cause == agent.Exited:
		return []step{back, {"or forget it; the journal keeps its session id", fmt.Sprintf("nbs-worker dismiss %s", handle)}}
	default:
		return []step{back}
	}
}

// needsLogin tells whether the last turn failed because nobody is logged in.
func needsLogin(v supervisor.View) bool {
	return v.LastError != nil && v.LastError.Class == supervisor.ClassAuthentication
}
