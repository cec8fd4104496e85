// Package doctor checks what nbs-worker needs, and reports problems before they do harm. It checks the installed claude
// and tmux, Claude's configuration, the folders and their disks, the records against the running processes, and the
// journal. Each check is a line in the table of checks.go, and a function in the file that has the name of its subject.
// Package trial below starts a claude, for --probe.
//
// The rules of a check:
//
//   - It changes only a scratch folder. If it can mend something without a loss, it returns a repair, which only
//     --fix carries out; see [NeverTouched].
//   - What it starts, it starts in its own servers and folders, and ends.
//   - It looks twice at what other commands change: a finding of only one look was caused by such a command.
//   - A finding says what is wrong, why that matters, and which command mends it.
//
// The package reads through the supervisor; only internal/app/cli uses it.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// Level is how much a finding matters.
type Level string

// The levels, from the least to the worst.
const (
	Holds   Level = "ok"
	Note    Level = "note"    // worth knowing; nothing is wrong
	Warning Level = "warning" // something may fail or be lost later
	Failure Level = "failure" // something that nbs-worker needs does not work
)

var levels = []Level{Holds, Note, Warning, Failure}

// Worse reports whether a level is worse than another.
func (l Level) Worse(than Level) bool { return slices.Index(levels, l) > slices.Index(levels, than) }

// Finding is what one check has found.
type Finding struct {
	Check string // "tmux.version": its group and its name
	Level Level
	What  string
	Why   string   // why it matters
	Fix   []string // commands that mend it; a command may follow words and a colon
	Unfit bool     // a dependency is missing or cannot be used

	about string // identifies it at a second look; "": What identifies it

	// repair mends it, and can lose nothing; nil if only a person can mend it.
	repair func(ctx context.Context) (done string, err error)
}

// ByItself reports whether doctor --fix mends the finding.
func (f Finding) ByItself() bool { return f.repair != nil }

// findings are the findings of one check; empty if it found nothing wrong and has nothing to say.
type findings []Finding

// add appends a finding, and returns it to be completed before the next add.
func (all *findings) add(level Level, what, why string, fix ...string) *Finding {
	*all = append(*all, Finding{Level: level, What: what, Why: why, Fix: fix})
	return &(*all)[len(*all)-1]
}

// found returns the only finding of a check.
func found(level Level, what, why string, fix ...string) findings {
	return findings{{Level: level, What: what, Why: why, Fix: fix}}
}

// unfit returns the finding that a dependency is missing or cannot be used.
func unfit(what, why string, fix ...string) findings {
	return findings{{Level: Failure, What: what, Why: why, Fix: fix, Unfit: true}}
}

// holding returns the finding of a check that found nothing wrong.
func holding(what string) findings { return findings{{Level: Holds, What: what}} }

// Options control the checks.
type Options struct {
	Fix        bool
	Only       []string // names of the checks to carry out; empty: all
	Probe      bool     // start a claude in a scratch folder, and watch what it does
	ProjectErr error    // why the project's .nbs cannot be opened; nil if it can, or if the project has no .nbs
	Bands      agent.Bands
	Version    string        // of this program, without that of Go
	Patience   time.Duration // with claude; 0: as long as a machine needs that is as busy as this one
}

// Checkup is what doctor found and did.
type Checkup struct {
	Findings []Finding // in the order of the checks; each check has one at least
	Done     []string  // by --fix
	Failed   []error   // repairs that failed
}

// Worst returns the level of the worst finding.
func (c Checkup) Worst() Level {
	worst := Holds
	for _, f := range c.Findings {
		if f.Level.Worse(worst) {
			worst = f.Level
		}
	}
	return worst
}

// Unfit reports whether a dependency is missing or cannot be used.
func (c Checkup) Unfit() bool {
	return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Unfit })
}

// NeverTouched is what --fix never changes.
var NeverTouched = []string{
	"records (except for the id of a conversation that changed inside claude; the record keeps the old id)",
	"transcripts and Claude's own files", "processes and tmux sessions", "the journal", "files of other users",
}

// examination is one run of the checks. Facts that several checks need are found out once.
type examination struct {
	project    *observe.Project
	supervisor *supervisor.Supervisor
	Options
	scratch string // a folder that is removed at the end
	claude  func() saidClaude
	rows    func() ([]inspect.Row, error)
	claudes func() ([]runningClaude, error)
}

// Examine checks what nbs-worker needs. It changes only a scratch folder and, with Fix, what can be mended without a
// loss.
func Examine(ctx context.Context, s *supervisor.Supervisor, how Options) (Checkup, error) {
	before, err := examine(ctx, s, how)
	if err != nil || !how.Fix {
		return before, err
	}
	done, failed := repair(ctx, before.Findings)
	after := before
	if len(done) > 0 {
		if after, err = examine(ctx, s, how); err != nil {
			return before, err
		}
	}
	after.Done, after.Failed = done, failed
	return after, nil
}

// repair makes the possible repairs. A repair may have been made and still return an error: it was not journaled.
func repair(ctx context.Context, all findings) (done []string, failed []error) {
	for _, f := range all {
		if !f.ByItself() {
			continue
		}
		did, err := f.repair(ctx)
		if did != "" {
			done = append(done, did)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return done, failed
}

// examine runs all checks. It runs the volatile ones that found something a second time: the cause may only have
// been another command.
func examine(ctx context.Context, s *supervisor.Supervisor, how Options) (Checkup, error) {
	wanted := slices.DeleteFunc(slices.Clone(checks), func(c check) bool {
		return c.project && !s.Project.Store.Exists() || c.system != "" && c.system != s.Project.Machine.System() || c.id == "claude.probe" && !how.Probe || len(how.Only) > 0 && !slices.Contains(how.Only, c.id)
	})
	found, err := lookOnce(ctx, s, how, wanted)
	doubtful := slices.DeleteFunc(slices.Clone(wanted), func(c check) bool {
		return !c.volatile || !slices.ContainsFunc(found[c.id], func(f Finding) bool { return f.Level != Holds })
	})
	if err == nil && len(doubtful) > 0 {
		err = lookAgain(ctx, s, how, doubtful, found)
	}
	var all Checkup
	for _, c := range wanted {
		all.Findings = append(all.Findings, found[c.id]...)
	}
	return all, err
}

// lookAgain runs checks a second time, and keeps the findings that both runs have.
func lookAgain(ctx context.Context, s *supervisor.Supervisor, how Options, doubtful []check, found map[string]findings) error {
	select {
	case <-time.After(secondLook):
	case <-ctx.Done():
		return ctx.Err()
	}
	again, err := lookOnce(ctx, s, how, doubtful)
	for id, second := range again {
		found[id] = confirmed(found[id], second)
	}
	return err
}

// secondLook is the time between the two looks. Another command has made progress by then.
const secondLook = 300 * time.Millisecond

// confirmed returns the findings of the second look that the first look had too. What only one of them saw was
// caused by another command.
func confirmed(first, second findings) findings {
	kept := slices.DeleteFunc(slices.Clone(second), func(f Finding) bool {
		return f.Level != Holds && !slices.ContainsFunc(first, f.isAgain)
	})
	if len(kept) == 0 {
		return findings{{Check: second[0].Check, Level: Holds, What: "a first look found something that a second look did not"}}
	}
	return kept
}

// isAgain reports whether an earlier look found the same.
func (f Finding) isAgain(earlier Finding) bool {
	return f.Level == earlier.Level && cmp.Or(f.about, f.What) == cmp.Or(earlier.about, earlier.What)
}

// lookOnce runs checks at the same time, and returns their findings by name.
func lookOnce(ctx context.Context, s *supervisor.Supervisor, how Options, wanted []check) (map[string]findings, error) {
	scratch, err := os.MkdirTemp(tmux.ShortTemp(), "nbs-doctor-")
	if err != nil {
		return nil, fail.Errorf(fail.Failed, "create a scratch folder: %w", err).Hint("name another folder: export TMPDIR=DIR")
	}
	d := &examination{project: s.Project, supervisor: s, Options: how, scratch: scratch}
	d.claude = sync.OnceValue(func() saidClaude { return d.askClaude(ctx) })
	d.rows = sync.OnceValues(func() ([]inspect.Row, error) { return d.records(ctx) })
	d.claudes = sync.OnceValues(d.runningClaudes)
	results := make([]findings, len(wanted))
	var all sync.WaitGroup // most of them wait for a program
	for i, check := range wanted {
		all.Go(func() { results[i] = d.carryOut(ctx, check) })
	}
	all.Wait()
	found := map[string]findings{}
	for i, check := range wanted {
		found[check.id] = results[i]
	}
	return found, errors.Join(ctx.Err(), os.RemoveAll(scratch))
}

// records lists the agents; it returns none if there is no project.
func (d *examination) records(ctx context.Context) ([]inspect.Row, error) {
	if !d.project.Store.Exists() {
		return nil, nil
	}
	return d.supervisor.Inspector.List(ctx)
}

// live returns the agents whose recorded process runs.
func (d *examination) live() []inspect.Row {
	rows, _ := d.rows() // team.health says what is wrong with them
	return slices.DeleteFunc(slices.Clone(rows), func(row inspect.Row) bool { return !row.Status.SamePID })
}

// known returns the agents whose record can be read.
func (d *examination) known() []inspect.Row {
	rows, _ := d.rows()
	return slices.DeleteFunc(slices.Clone(rows), func(row inspect.Row) bool { return row.Record.Handle == "" })
}

func (d *examination) carryOut(ctx context.Context, c check) findings {
	found := c.run(d, ctx)
	if len(found) == 0 {
		found = holding(c.holds)
	}
	for i := range found {
		found[i].Check = c.id
	}
	return found
}
