package launcher

import (
	"errors"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/restart"
)

// evidence is what an end is classified by.
type evidence struct {
	exit       agent.Exit
	uptime     time.Duration
	ready      bool          // claude was seen to be ready
	readyAfter time.Duration // how long after its start
	failure    *agent.Failure
	limits     *agent.Limits // of the account, as last reported
	wrong      error         // why the launcher ended claude; nil: it did not end it
	now        time.Time
}

// ending returns what the end of a claude that ran means for the next start.
func (e *evidence) ending() restart.Ending {
	end := restart.Ending{Class: e.class(), Reason: e.exit.Summary(), Abnormal: e.exit.Signal != "" || e.exit.Code > signalled}
	if e.ready {
		end.Ready = e.uptime - e.readyAfter
	}
	switch {
	case e.wrong != nil:
		end.Reason = e.wrong.Error()
	case end.Class == agent.EndQuota:
		if _, end.Until = screen.UsageLimit(e.exit.LastScreen, e.now); end.Until.IsZero() {
			end.Until = e.limits.FullUntil(e.now)
		}
		end.Reason = "a usage limit was reached"
	case end.Class == agent.EndAuth:
		end.Reason = "claude is not logged in (" + end.Reason + ")"
	case end.Class == agent.EndConfig:
		end.Reason = "claude refuses to start (" + end.Reason + ")"
	case end.Class == agent.EndCrash && !e.well() && e.exit.Code == 0:
		end.Reason += " before its start had succeeded"
	}
	return end
}

// signalled is added to the number of a signal in the exit code of a program that left because of the signal.
const signalled = 128

// well reports whether the start had succeeded.
func (e *evidence) well() bool { return e.ready && restart.StartedWell(e.readyAfter, e.uptime) }

func (e *evidence) class() agent.EndClass {
	exit := &e.exit
	switch {
	case e.wrong != nil && fail.KindOf(e.wrong) == fail.Conflict:
		return agent.EndConflict
	case e.wrong != nil: // what ran was not what is recorded, and would not be the next time
		return agent.EndConfig
	case exit.HungUp:
		return agent.EndServer
	case exit.Signal != "":
		return agent.EndCrash
	case exit.Code == 0 && (e.well() || live.EndedAtPrompt(exit.EndReason)):
		return agent.EndClean
	case exit.Code == 0:
		return agent.EndCrash
	}
	return e.classOfCode()
}

// classOfCode classifies an exit with a code other than 0 by the failure of the last turn. If the start had not
// succeeded, it also reads the last words on the screen; later they may be from another program.
func (e *evidence) classOfCode() agent.EndClass {
	words := ""
	if !e.well() {
		words = e.exit.LastScreen
	}
	limited, _ := screen.UsageLimit(words, e.now)
	switch {
	case limited || e.failedBy("rate_limit"):
		return agent.EndQuota
	case e.failedBy("authentication_failed") || saysLogin(words):
		return agent.EndAuth
	case screen.Read(words).Dialog.AtStart() || claude.RefusalKind(words) != fail.Failed:
		return agent.EndConfig
	}
	return agent.EndCrash
}

// failedBy reports whether the last turn ended with an error of that class.
func (e *evidence) failedBy(class string) bool { return e.failure != nil && e.failure.Class == class }

// saysLogin reports whether claude's last words ask for a login.
func saysLogin(words string) bool {
	known := []string{"Please run /login", "Not logged in", "Invalid API key", "Failed to authenticate"}
	return slices.ContainsFunc(known, func(ask string) bool { return strings.Contains(words, ask) })
}

// refused returns the ending of a start that failed before claude ran.
func refused(cause error) restart.Ending {
	return restart.Ending{
		Class: classOf(cause), Reason: cause.Error(), Abnormal: true, NoRoom: noRoom(cause) || passes(cause),
		Slow: errors.Is(cause, claude.ErrCannotRun),
	}
}

// classOf classifies the reason why claude was not started. A locked .nbs is no fault of the conversation, and the
// start is tried again; so it is if the program is missing during its update.
func classOf(cause error) agent.EndClass {
	if errors.Is(cause, store.ErrStayedLocked) || errors.Is(cause, claude.ErrCannotRun) {
		return agent.EndCrash
	}
	switch fail.KindOf(cause) {
	case fail.Conflict:
		return agent.EndConflict
	case fail.NotFound, fail.BadInput, fail.Unfit, fail.Held:
		return agent.EndConfig
	default:
		return agent.EndCrash
	}
}
