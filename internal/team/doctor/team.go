package doctor

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

func (d *examination) paused(_ context.Context) findings {
	pause, err := d.project.Store.Watching().Paused()
	const why = "during a pause, watch and the restart policies do nothing"
	switch {
	case err != nil:
		return found(Failure, oneLine(err), why, fail.HintsOf(err)...)
	case pause != nil:
		return found(Note, strings.TrimSuffix("the project is paused: "+pause.Words(), ": "), why, "nbs-worker unpause")
	}
	if d.project.Store.Watching().IsForeign() {
		return found(Warning, "the project has a pause file without your seal; it does not count", "only the recovery service at boot would skip the project because of it", "nbs-worker unpause")
	}
	return nil
}

// health names the agents that need attention; triage says why. It is a warning if an agent needs a person for more
// than an answer, or could not be asked. It is a failure if a record cannot be read.
func (d *examination) health(ctx context.Context) findings {
	team, err := recovery.Team(d.supervisor.Inspector, nil)
	if err != nil {
		return found(Failure, "the records cannot be listed: "+oneLine(err), "the agents cannot be listed", fail.HintsOf(err)...)
	}
	level, unwell := Note, []string(nil)
	for _, p := range recovery.Assess(ctx, d.supervisor.Inspector, team, recovery.Limits{Bands: d.Bands}) {
		if len(p.Steps) > 0 || p.View.Err != nil {
			unwell = append(unwell, string(p.Handle))
		}
		switch {
		case p.View.Record.Handle == "", p.View.Lost:
			level = Failure
		case level != Failure && (p.NeedsPerson() && p.Verdict != triage.Waiting || p.View.Err != nil):
			level = Warning
		}
	}
	if len(unwell) == 0 {
		return nil
	}
	return found(level, "needs attention: "+handles(unwell), "triage shows what is wrong with each agent, and what to do", "nbs-worker triage")
}

// otherLaunchers names the agents whose launchers are of another version: an upgrade leaves those that run as they are.
func (d *examination) otherLaunchers(context.Context) (all findings) {
	led := map[string][]string{} // handles by version
	for _, row := range d.live() {
		if other := row.Record.Process.OtherLauncher(d.Version); other != "" {
			led[other] = append(led[other], string(row.Handle))
		}
	}
	for _, version := range slices.Sorted(maps.Keys(led)) {
		all.add(Note, "led by "+version+" of nbs-worker, and this is "+d.Version+": "+handles(led[version]), "after an upgrade each agent goes on, and its next start uses the new version")
	}
	return all
}

// halfRenamed finds agents whose rename was killed. One that goes on has the verb lock.
func (d *examination) halfRenamed(row inspect.Row) findings {
	r := &row.Record
	if _, atWork := observe.VerbAtWork(d.project.Machine, d.project.Store, r.Handle, d.project.Machine.Program(os.Getpid())); atWork || !r.Unfinished() {
		return nil
	}
	command := fmt.Sprintf("nbs-worker rename %s %s", r.Handle, r.Rename.To)
	return found(Warning, fmt.Sprintf("the rename of %s to %s was not completed", r.Handle, r.Rename.To), "until then it cannot be resumed", command)
}

// moved finds records that still name the conversation before a /clear or /branch.
func (d *examination) moved(row inspect.Row) (all findings) {
	r := &row.Record
	config, err := d.project.ConfigOf(r)
	if err != nil {
		return nil
	}
	if id, moved := config.Registry().MovedTo(r, d.project.Store.Report(r.Handle), observe.HookLead(d.project.Machine, r)); moved {
		f := all.add(Warning, fmt.Sprintf("%s is in the conversation %s, and its record names %s", r.Handle, id, r.SessionID),
			"a resume on another machine, or after a restart of this one, would bring back the recorded conversation", "nbs-worker doctor --fix")
		f.repair = func(ctx context.Context) (string, error) { return d.followMoved(ctx, row.Handle, id) }
	}
	return all
}

// followMoved writes the id into the record, unless a verb is working on the agent: that verb writes it itself.
func (d *examination) followMoved(ctx context.Context, handle agent.Handle, id agent.SessionID) (string, error) {
	unlock, err := d.project.Store.LockVerb(handle, "doctor", d.project.Seconds())
	if fail.KindOf(err) == fail.Conflict && err != nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer unlock()
	r, err := d.project.Store.Load(handle)
	if err != nil || r.SessionID == id {
		return "", err // its hook was faster
	}
	_, untold, err := observe.MoveTo(ctx, d.project.Machine, d.project.Store, &r, id, live.Moved, d.project.Now())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: its record now names the conversation %s, and keeps the earlier one", handle, id), untold
}

// damagedTranscripts finds transcripts that exist but have lost or changed content.
func (d *examination) damagedTranscripts(row inspect.Row) findings {
	r := &row.Record
	kept, err := d.supervisor.Keeper.RetentionOf(r)
	if err != nil || kept.Path == "" {
		return nil // a start or triage reports it
	}
	config, err := d.project.ConfigOf(r)
	if err != nil {
		return nil
	}
	loss, lossErr := d.supervisor.Keeper.LossOf(config, r.SessionID)
	whole, wholeErr := d.supervisor.Keeper.CheckWhole(r, config)
	switch {
	case kept.Kept == archive.Emptied && !r.TranscriptSeen.IsZero():
		return found(Failure, string(r.Handle)+": its transcript is empty: "+kept.Path, "the agent cannot be resumed; another program has changed Claude's file",
			"restore the file from a backup, or give the conversation up: nbs-worker resume "+string(r.Handle)+" --fresh")
	case fail.KindOf(wholeErr) == fail.Conflict:
		return found(Failure, string(r.Handle)+": "+oneLine(wholeErr), "a resume is refused until a person chooses one of them", fail.HintsOf(wholeErr)...)
	case lossErr == nil && loss != nil && loss.Rewritten:
		return found(Failure, string(r.Handle)+": "+loss.String(), "a resume is refused until a person decides what to do with it", fail.HintsOf(d.supervisor.Keeper.RefuseRewritten(r, loss))...)
	case lossErr == nil && loss != nil:
		return found(Failure, string(r.Handle)+": "+loss.String(), "the agent will not know that part; another program has changed Claude's file",
			"restore the file from a backup; or resume from the shortened one: nbs-worker resume "+string(r.Handle))
	case wholeErr == nil && whole != nil:
		return found(Warning, string(r.Handle)+": Claude's transcript has lost a part; the archive has all of it", "nothing is lost: a resume restores the complete transcript",
			"nbs-worker resume "+string(r.Handle))
	}
	return nil
}

// nearEnd is how many days before Claude deletes a transcript that becomes a finding.
const nearEnd = 7

func (d *examination) endingTranscripts(row inspect.Row) (all findings) {
	handle := row.Handle
	kept, err := d.supervisor.Keeper.RetentionOf(&row.Record)
	if err != nil || kept.Path == "" || kept.LeftDays > nearEnd {
		return nil
	}
	f := all.add(Note, fmt.Sprintf("%s: Claude may delete its transcript in %s", handle, human.Count(max(0, int(kept.LeftDays)), "day")),
		"the archive keeps it: a resume would restore it", `to let Claude keep transcripts for ten years: set "cleanupPeriodDays": 3650 in `+kept.Settings)
	if kept.Kept != archive.Linked && kept.Kept != archive.CopyFresh {
		f.Level, f.Why = Warning, "the archive does not have all of it: after that it cannot be resumed"
		f.Fix = append([]string{"to keep it in the archive: nbs-worker session " + string(handle)}, f.Fix...)
	}
	return all
}
