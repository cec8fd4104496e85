package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
)

func (d *examination) paused(_ context.Context) findings {
	pause, err := d.Store.Watching().Paused()
	const why = "watch and the restart policies of agents do nothing meanwhile"
	switch {
	case err != nil:
		return found(Failure, oneLine(err), why, fail.HintsOf(err)...)
	case pause != nil:
		return found(Note, strings.TrimSuffix("the project is paused: "+pause.Words(), ": "), why, "nbs-worker unpause")
	}
	if d.Store.Watching().IsForeign() {
		return found(Warning, "the mark of a pause does not count: it has not your seal", "only a service at boot would take it for one", "nbs-worker unpause")
	}
	return nil
}

func (d *examination) damagedRecords(_ context.Context) (all findings) {
	rows, err := d.rows()
	if err != nil {
		return found(Failure, "the records cannot be listed: "+oneLine(err), "no agent can be found", fail.HintsOf(err)...)
	}
	for _, row := range rows {
		if row.Err != nil && row.Record.Handle == "" {
			all.add(Failure, fmt.Sprintf("%s: %s", row.Handle, oneLine(row.Err)), "the agent can be neither resumed nor ended", fail.HintsOf(row.Err)...)
		}
	}
	return all
}

// notAllowed looks for records that nobody vouches for.
func (d *examination) notAllowed(row inspect.Row) findings {
	if !row.IsNotAllowed() {
		return nil
	}
	return found(Warning, fmt.Sprintf("%s: %s", row.Handle, row.NotAllowed), "nothing is started from it", "nbs-worker allow "+string(row.Handle))
}

// lostFolders looks for agents whose working directory has gone, or moved with the project.
func (d *examination) lostFolders(row inspect.Row) findings {
	r := &row.Record
	if observe.IsFolder(r.LaunchCwd()) {
		return nil
	}
	if to := d.MovedWithProject(r); to != "" {
		return found(Note, fmt.Sprintf("%s: its folder has moved with the project, from %s to %s", r.Handle, human.Quote(r.LaunchCwd()), human.Quote(to)),
			"a resume starts it where the folder is now; claude has to trust it there", "nbs-worker resume "+string(r.Handle))
	}
	return found(Failure, fmt.Sprintf("%s: its working directory %s is not there", r.Handle, human.Quote(r.LaunchCwd())), "it cannot be started",
		"put the folder back, or say where it is now: nbs-worker resume "+string(r.Handle)+" --cwd DIR")
}

// moved looks for records that name the conversation before a /clear or /branch.
func (d *examination) moved(row inspect.Row) (all findings) {
	r := &row.Record
	config, err := d.ConfigOf(r)
	if err != nil {
		return nil
	}
	if id, moved := config.Registry().MovedTo(r, d.Store.Report(r.Handle), observe.HookLead(r)); moved {
		f := all.add(Warning, fmt.Sprintf("%s is in another conversation than its record names: %s, recorded %s", r.Handle, id, r.SessionID),
			"what is on its screen is not what a resume on another machine, or after Claude has forgotten the process, would bring back", "nbs-worker doctor --fix")
		f.repair = func(ctx context.Context) (string, error) { return d.followMoved(ctx, row.Handle, id) }
	}
	return all
}

// followMoved writes the id into the record, unless a verb is at work on the agent: that does it itself.
func (d *examination) followMoved(ctx context.Context, handle agent.Handle, id agent.SessionID) (string, error) {
	unlock, err := d.Store.LockVerb(handle, "doctor", d.Seconds())
	if fail.KindOf(err) == fail.Conflict && err != nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer unlock()
	r, err := d.Store.Load(handle)
	if err != nil || r.SessionID == id {
		return "", err // its hook was faster
	}
	_, untold, err := observe.MoveTo(ctx, d.Store, &r, id, live.Moved, d.Now())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: its record follows it into the conversation %s; the one before is kept in it", handle, id), untold
}

func (d *examination) drifted(row inspect.Row) (all findings) {
	differences, _ := d.DriftOf(&row.Record) // else it has just ended
	for _, drift := range differences {
		if drift.Field != "session_id" { // team.moved
			all.add(Warning, fmt.Sprintf("%s: %s is %s, recorded %s", row.Handle, drift.Field, human.Quote(drift.Live), human.Quote(drift.Recorded)),
				"a resume would start it as recorded, and not as it runs", fmt.Sprintf("nbs-worker session %s", row.Handle), fmt.Sprintf("to start it as recorded: nbs-worker resume %s --force", row.Handle))
		}
	}
	return all
}

// replacedLaunchers looks for launchers whose program was replaced by another version, as an upgrade does.
func (d *examination) replacedLaunchers(_ context.Context) findings {
	return judgeLaunchers(d.live(), proc.IsReplaced)
}

func judgeLaunchers(live []inspect.Row, isReplaced func(pid int) bool) findings {
	var old []string
	for _, row := range live {
		if p := row.Record.Process; p != nil && p.Launcher.PID != 0 && proc.IsAlive(p.LauncherIdentity()) && isReplaced(p.Launcher.PID) {
			old = append(old, string(row.Handle))
		}
	}
	if len(old) == 0 {
		return nil
	}
	return found(Note, "launched by a version of nbs-worker that was replaced since: "+strings.Join(old, ", "),
		"these agents work on; what the new version does better they get at their next start",
		"when their turns may end: nbs-worker resume "+strings.Join(old, " ")+" --force")
}

// lostTranscripts looks for conversations that were held and are not where Claude has them.
func (d *examination) lostTranscripts(row inspect.Row) findings {
	r := &row.Record
	kept, err := d.RetentionOf(r)
	switch {
	case err != nil:
		return nil // a start says what cannot be read
	case kept.Path != "":
		return d.unwhole(r, kept)
	case r.TranscriptSeen.IsZero():
		return nil
	case kept.Kept != archive.NotKept:
		return found(Note, string(r.Handle)+": its transcript is gone from where Claude has it; the archive keeps it", "nothing is lost: a resume puts it back", "nbs-worker resume "+string(r.Handle))
	}
	return found(Failure, fmt.Sprintf("%s: the transcript of its conversation %s is gone; it was there on %s", r.Handle, r.SessionID, r.TranscriptSeen.UTC().Format(time.DateOnly)),
		"it cannot be resumed; Claude, or somebody, has deleted the file", "put the file back from a backup, or give the conversation up: nbs-worker resume "+string(r.Handle)+" --fresh")
}

// unwhole returns what is wrong with a transcript that is there.
func (d *examination) unwhole(r *agent.Record, kept keep.Retention) findings {
	config, err := d.ConfigOf(r)
	if err != nil {
		return nil
	}
	loss, lossErr := d.LossOf(config, r.SessionID)
	whole, wholeErr := d.CheckWhole(r, config)
	switch {
	case kept.Kept == archive.Emptied && !r.TranscriptSeen.IsZero():
		return found(Failure, string(r.Handle)+": its transcript is empty: "+kept.Path, "it cannot be resumed; somebody has written into Claude's file",
			"put the file back from a backup, or give the conversation up: nbs-worker resume "+string(r.Handle)+" --fresh")
	case fail.KindOf(wholeErr) == fail.Conflict:
		return found(Failure, string(r.Handle)+": "+oneLine(wholeErr), "a resume is refused until somebody has said which of them the conversation is", fail.HintsOf(wholeErr)...)
	case lossErr == nil && loss != nil && loss.Rewritten:
		return found(Failure, string(r.Handle)+": "+loss.String(), "a resume is refused until somebody has said what is to become of it", fail.HintsOf(d.RefuseRewritten(r, loss))...)
	case lossErr == nil && loss != nil:
		return found(Failure, string(r.Handle)+": "+loss.String(), "the agent will not know what stood there; somebody has written into Claude's file",
			"put the file back from a backup; or take it as it is: nbs-worker resume "+string(r.Handle))
	case wholeErr == nil && whole != nil:
		return found(Warning, string(r.Handle)+": a part of its transcript is missing where Claude has it; the archive keeps all of it", "nothing is lost: a resume puts the whole one back",
			"nbs-worker resume "+string(r.Handle))
	}
	return nil
}

// nearEnd is how many days before Claude deletes a transcript this becomes a finding.
const nearEnd = 7

func (d *examination) endingTranscripts(row inspect.Row) (all findings) {
	handle := row.Handle
	kept, err := d.RetentionOf(&row.Record)
	if err != nil || kept.Path == "" || kept.LeftDays > nearEnd {
		return nil
	}
	f := all.add(Note, fmt.Sprintf("%s: Claude will delete its transcript in %s, or has the right to now", handle, human.Count(max(0, int(kept.LeftDays)), "day")),
		"the archive keeps it: a resume will put it back", `to let Claude keep transcripts for ten years: set "cleanupPeriodDays": 3650 in `+kept.Settings)
	if kept.Kept != archive.Linked && kept.Kept != archive.CopyFresh {
		f.Level, f.Why = Warning, "the archive does not have all of it: what is deleted cannot be resumed"
		f.Fix = append([]string{"to keep it in the archive: nbs-worker session " + string(handle)}, f.Fix...)
	}
	return all
}

// unsaved looks for agents whose claude cannot write its transcript.
func (d *examination) unsaved(ctx context.Context) (all findings) {
	records := agent.Mapped(d.live(), func(row inspect.Row) agent.Record { return row.Record })
	for _, sight := range d.LookClosely(ctx, records) {
		if sight.Unsaved != "" {
			all.add(Failure, fmt.Sprintf("%s: its turns are being lost: %s", sight.Record.Handle, sight.Unsaved),
				"a resume would not know what was said since", "make room before it is ended; look: nbs-worker session "+string(sight.Record.Handle))
		}
	}
	return all
}
