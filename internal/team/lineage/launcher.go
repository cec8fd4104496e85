package lineage

import (
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
)

// Foreground is the option that makes a spawn the launcher too.
const Foreground = "foreground"

// Job is the option by which run starts the agent in a tmux server of its own, and is not the launcher.
const Job = "job"

// Launches reports whether a process is the launcher of any agent: this program with the verb run, or with a spawn
// in the foreground. What runs a job starts the launcher in a tmux server.
func (f Finder) Launches(pid int) bool {
	words, err := f.Machine.Cmdline(pid)
	return err == nil && f.Machine.Program(pid) == filepath.Base(f.Program) && launches(words)
}

// runs reports whether a process is the launcher of the handle. A launcher that a person started has no invocation in
// its environment, because it creates the invocation itself.
func (f Finder) runs(pid int, handle agent.Handle) bool {
	words, err := f.Machine.Cmdline(pid)
	return err == nil && launches(words) && f.Machine.Program(pid) == filepath.Base(f.Program) && names(words, handle)
}

// launches reports whether a command line is that of a launcher. The word run may also be a verb of runbook or
// schedule.
func launches(words []string) bool {
	run := slices.Index(words, "run")
	others := func(word string) bool { return word == "runbook" || word == "schedule" }
	if run > 0 && slices.ContainsFunc(words[run:], func(word string) bool { return word == "--"+Job || strings.HasPrefix(word, "--"+Job+"=") }) {
		return false
	}
	return run > 0 && !slices.ContainsFunc(words[:run], others) || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--"+Foreground) })
}

func names(words []string, handle agent.Handle) bool {
	return slices.ContainsFunc(words, func(word string) bool { return agent.Handle(word).Same(handle) })
}
