package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/doctor/trial"
	"nbs-worker/internal/team/launcher"
)

// saidClaude is what the claude program printed about itself.
type saidClaude struct {
	program  string
	findErr  error
	version  string // as printed
	startErr error
}

// askClaude asks claude for its version, with a temporary configuration.
func (d *examination) askClaude(ctx context.Context) saidClaude {
	var said saidClaude
	said.program, said.findErr = claude.FindBinary(d.project.Variable(claude.BinaryVariable))
	if said.findErr != nil {
		return said
	}
	env := claude.ScratchEnv(d.project.Env, d.scratch)
	const usual = 20 * time.Second // a tenth of a second on a machine that is not busy
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.Patience, d.project.Machine.Patience(usual)))
	defer cancel()
	said.version, said.startErr = launcher.Ask(ctx, said.program, []string{"--version"}, env, d.scratch)
	return said
}

func (d *examination) claudeFound(_ context.Context) findings {
	said := d.claude()
	if said.findErr == nil {
		return holding("claude is " + said.program)
	}
	return unfit(said.findErr.Error(), "no agent can be started or resumed", fail.HintsOf(said.findErr)...)
}

func (d *examination) claudeVersion(_ context.Context) findings {
	said := d.claude()
	version := claude.ReadVersion(said.version)
	switch {
	case said.findErr != nil:
		return found(Note, "claude's version is unknown: claude was not found", "")
	case errors.Is(said.startErr, context.DeadlineExceeded) && said.version == "":
		return found(Warning, human.Quote(said.program)+" did not print its version in time", "this machine is very busy, or claude hangs",
			"to see how long it takes: time "+said.program+" --version")
	case said.startErr != nil && said.version == "":
		return unfit(fmt.Sprintf("%s does not print its version: %v", human.Quote(said.program), said.startErr),
			"a claude that does not start cannot run an agent", "to see its output: "+said.program+" --version")
	case version == "":
		return found(Warning, "claude --version does not print a version of Claude Code: "+human.Quote(strings.TrimSpace(said.version)),
			"it may be another program, and may not behave like Claude Code", "name the right program: export "+claude.BinaryVariable+"=/path/to/claude")
	case claude.OlderThanTested(version):
		return found(Warning, "claude "+version+" is older than "+claude.OldestTested+", the oldest that nbs-worker is tested with",
			"it may lack a feature that a start needs", "claude update")
	}
	return holding("claude has version " + version)
}

// rootWithoutSandbox finds the agents that claude would refuse to start. If there are no agents, it checks whether
// claude would refuse the next one.
func (d *examination) rootWithoutSandbox(_ context.Context) findings {
	var refused []string
	rows := d.known()
	for _, row := range rows {
		if claude.RefusesRoot(&row.Record.Spec, claude.Env(&row.Record.Spec, d.project.Env, nil), d.project.UID) {
			refused = append(refused, string(row.Handle))
		}
	}
	fixes := []string{"if this machine is a sandbox that may be damaged: export IS_SANDBOX=1", "or run nbs-worker as another user than root"}
	switch {
	case len(refused) > 0:
		return found(Failure, "claude would refuse to start "+handles(refused)+": they bypass permissions, this user is root, and IS_SANDBOX is not set",
			"claude says: "+claude.RootRefusal, fixes...)
	case len(rows) == 0 && claude.RefusesRoot(&agent.Spec{}, d.project.Env, d.project.UID):
		return found(Warning, "claude would refuse a spawn with the default permission mode: it bypasses permissions, and this user is root",
			"claude says: "+claude.RootRefusal, append(fixes, "or start agents that ask before they act: nbs-worker spawn HANDLE --permission-mode acceptEdits")...)
	}
	return nil
}

// probe starts a claude like that of an agent, in its own folder, and judges what it did.
func (d *examination) probe(ctx context.Context) findings {
	said := d.claude()
	if said.findErr != nil {
		return found(Note, "claude was not tried: it was not found", "")
	}
	seen, err := trial.Claude(ctx, d.project.Machine, d.scratch, said.program)
	if err != nil {
		return found(Note, "claude was not tried: "+oneLine(err), "")
	}
	return judgeTrial(seen)
}

// judgeTrial returns what a trial claude failed to do.
func judgeTrial(seen trial.Seen) (all findings) {
	unfit := func(what, why string) findings { return unfit(what, why, "claude update") }
	if !seen.Registered {
		what := "a trial claude did not enter itself into Claude's registry"
		if words := strings.Join(strings.Fields(seen.Screen), " "); words != "" {
			what += "; its screen: " + human.Quote(words)
		}
		return unfit(what, "nbs-worker reads there whether an agent is ready, what it does, and in which conversation it is")
	}
	if seen.Entry.Status == "" || seen.Entry.Start.IsZero() {
		all = append(all, unfit("the registry entry of a trial claude lacks its state or its process", "the states of agents would be unknown")...)
	}
	if !seen.Heard.Started {
		all = append(all, unfit("a trial claude did not run the hook SessionStart of its settings", "after /clear, the record would name the old conversation for a while")...)
	}
	if !seen.Heard.Ended {
		all.add(Warning, "a trial claude did not run the hook SessionEnd when its terminal closed", "nbs-worker knows less exactly why an agent ended")
	}
	if !seen.Heard.StatusLine {
		all.add(Warning, "a trial claude did not run the status line of its settings", "context and cost of agents are then computed from transcripts, less exactly", "claude update")
	}
	if len(all) == 0 {
		return holding("a trial claude entered itself into Claude's registry, and ran its hooks and its status line")
	}
	return all
}

// handles lists agents in a sentence; of many, it names the first few.
func handles(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// oneLine returns an error on one line. Of several joined errors it returns the first.
func oneLine(err error) string {
	if several, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok && len(several.Unwrap()) > 0 {
		return oneLine(several.Unwrap()[0])
	}
	return human.OneLine(err.Error())
}
