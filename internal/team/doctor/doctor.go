// Package doctor tests what nbs-worker relies on, and says what would go wrong before it does:
// the real claude and tmux as they are installed and configured, the folders and their disks, the
// machine, the records against what runs, and what was left behind. A check is a line in the table
// of checks.go, and a function in the file that is named after what it looks at. Package trial
// below it starts what cannot be judged by looking.
//
// The rules of a check:
//
//   - It changes nothing but a scratch folder. What it can mend without losing anything it hands
//     out as a repair, which only --fix carries out; see [NeverTouched].
//   - What it starts, it starts in servers and folders of its own, and ends.
//   - What other commands change, it looks at twice: what only one look saw was such a command at work.
//   - A finding says what is so, why that matters, and the command that mends it.
//
// The package looks through the supervisor; only internal/app/cli runs it.
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
	"nbs-worker/internal/team/supervisor"
)

// Level is how much a finding matters.
type Level string

// The levels, from the least to the worst.
const (
	Holds   Level = "ok"
	Note    Level = "note"    // worth knowing; nothing is wrong
	Warning Level = "warning" // something will fail, or is lost, when more comes to it
	Failure Level = "failure" // something that is relied on does not hold
)

var levels = []Level{Holds, Note, Warning, Failure}

// Worse reports whether a level is worse than another.
func (l Level) Worse(than Level) bool { return slices.Index(levels, l) > slices.Index(levels, than) }

// Finding is what one check has found.
type Finding struct {
	Check string // "tmux.version": its group and its name
	Level Level
	What  string
	Why   string   // it matters
	Fix   []string // commands that mend it; words and a colon may stand before a command
	Unfit bool     // a dependency is missing or cannot be used

	about string // what identifies it at a second look; "": What does

	// repair mends it, and can lose nothing; nil when that needs a person.
	repair func(ctx context.Context) (done string, err error)
}

// ByItself reports whether doctor --fix mends the finding.
func (f Finding) ByItself() bool { return f.repair != nil }

// findings are those of one check; none when it found nothing wrong and has nothing to say.
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

// holding returns what a check saw that found nothing wrong.
func holding(what string) findings { return findings{{Level: Holds, What: what}} }

// Options say how to look.
type Options struct {
	Fix     bool
	Probe   bool  // start a claude in a scratch folder, and watch what it does
	Project error // why the project's .nbs cannot be opened; nil if it can, or if the project has no .nbs
	Bands   agent.Bands
	Version string // of this program, as nbs-worker version prints it
}

// Checkup is what a doctor found, and did.
type Checkup struct {
	Findings []Finding // in the order of the checks; each check has one at least
	Done     []string  // by --fix
	Failed   []error   // repairs that failed
}

// Worst is the level of the worst finding.
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

// NeverTouched is what --fix leaves alone, whatever is found.
var NeverTouched = []string{
	"records (except for the id of a conversation that changed inside claude; the record keeps the old id)",
	"transcripts and Claude's own files", "processes and tmux sessions", "the journal", "files of other users",
}

// examination is one look at everything; what several checks need is found out once.
type examination struct {
	*supervisor.Supervisor
	Options
	scratch    string // a folder that is removed at the end
	claude     func() saidClaude
	rows       func() ([]inspect.Row, error)
	claudes    func() ([]runningClaude, error)
	configured func() (tmux.Settings, error) // of a new tmux server
}

// Examine tests what nbs-worker relies on. It changes nothing but a scratch folder, and
// with Fix what can lose nothing.
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

// repair repairs what can be. A repair may have been done and still have failed: it was not journaled.
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

// examine carries out all checks, and once more the volatile ones that found something: it may only
// have been another command at work.
func examine(ctx context.Context, s *supervisor.Supervisor, how Options) (Checkup, error) {
	wanted := slices.DeleteFunc(slices.Clone(checks), func(c check) bool {
		return c.project && !s.Store.Exists() || c.id == "claude.probe" && !how.Probe
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

// lookAgain carries out checks a second time, and keeps the findings that both looks have.
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

// secondLook is how long after the first look the second one is: by then another command has
// finished what it was in the middle of, or does another thing.
const secondLook = 300 * time.Millisecond

// confirmed returns the findings of the second look that the first had too. What only one of them
// saw was another command at work.
func confirmed(first, second findings) findings {
	kept := slices.DeleteFunc(slices.Clone(second), func(f Finding) bool {
		return f.Level != Holds && !slices.ContainsFunc(first, f.isAgain)
	})
	if len(kept) == 0 {
		return findings{{Check: second[0].Check, Level: Holds, What: "a first look found something that a second look did not"}}
	}
	return kept
}

// isAgain reports whether an earlier look has found the same.
func (f Finding) isAgain(earlier Finding) bool {
	return f.Level == earlier.Level && cmp.Or(f.about, f.What) == cmp.Or(earlier.about, earlier.What)
}

// lookOnce carries out checks, side by side, and returns what they found by their names.
func lookOnce(ctx context.Context, s *supervisor.Supervisor, how Options, wanted []check) (map[string]findings, error) {
	scratch, err := os.MkdirTemp(tmux.ShortTemp(), "nbs-doctor-")
	if err != nil {
		return nil, fail.Errorf(fail.Failed, "create a scratch folder: %w", err).Hint("name another folder: export TMPDIR=DIR")
	}
	d := &examination{Supervisor: s, Options: how, scratch: scratch}
	d.claude = sync.OnceValue(func() saidClaude { return d.askClaude(ctx) })
	d.rows = sync.OnceValues(func() ([]inspect.Row, error) { return d.records(ctx) })
	d.claudes = sync.OnceValues(d.runningClaudes)
	d.configured = sync.OnceValues(func() (tmux.Settings, error) { return tmux.ConfiguredSettings(ctx) })
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

// records lists the agents; none where there is no project.
func (d *examination) records(ctx context.Context) ([]inspect.Row, error) {
	if !d.Store.Exists() {
		return nil, nil
	}
	return d.List(ctx)
}

// live returns the agents whose recorded process runs.
func (d *examination) live() []inspect.Row {
	rows, _ := d.rows() // team.health says what is wrong with them
	return slices.DeleteFunc(slices.Clone(rows), func(row inspect.Row) bool { return !row.Status.SamePID })
}

// known are the agents whose record can be read.
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
