package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Options says what is measured and how thoroughly.
type Options struct {
	Worker string        // nbs-worker
	Claude string        // the real Claude Code; "" leaves it out
	Tools  string        // folder with the programs that BuildTools made
	Agents []int         // sizes of the team, growing
	Effort Effort        // for the verbs that look; those that start something are sampled less
	Idle   time.Duration // how long idle launchers and watch settle, and then are watched at least
	Log    io.Writer     // progress

	Recovered int // real agents that are brought back after their tmux server was lost
}

// initRuns is the number of traces of which the medians are taken.
const initRuns = 21

// claude is what the agents run.
func (o Options) claude() string {
	if o.Claude != "" {
		return o.Claude
	}
	return filepath.Join(o.Tools, "claude")
}

// BuildTools builds the programs that are measured against, as the product is built.
func BuildTools(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+"/", "nbs-worker/internal/sim/bench/claude", "nbs-worker/internal/sim/bench/emptycobra",
		"nbs-worker/internal/sim/bench/empty", "nbs-worker/internal/sim/bench/stopwatch")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the floors: %w\n%s", err, out)
	}
	return nil
}

// Install copies programs into a folder, as make install does: the kernel starts a copy up to 0.7 ms sooner than the
// file that the linker has written.
func Install(dir string, programs ...string) error {
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(program)), text, 0o700)
		}
		if err != nil {
			return fmt.Errorf("install %s: %w", filepath.Base(program), err)
		}
	}
	return nil
}

// Run measures everything once.
func Run(ctx context.Context, opts Options) (Result, error) {
	result := Result{Taken: time.Now().UTC().Truncate(time.Second), Machine: thisMachine()}
	err := result.measure(ctx, opts)
	if interrupted := ctx.Err(); interrupted != nil { // the error of a command that was killed does not say why
		err = interrupted
	}
	return result, err
}

func (r *Result) measure(ctx context.Context, opts Options) error {
	light := opts
	light.Claude = ""
	err := inWorld(ctx, light, func(w *world) error { return w.measureTeams(ctx, opts, r) })
	if err != nil {
		return err
	}
	if canTrace() {
		opts.say("processes per verb")
		if r.Verbs, err = countProcesses(ctx, light); err != nil {
			return fmt.Errorf("count processes: %w", err)
		}
	}
	r.Checks = append(r.Checks, checkList(r.Verbs))
	if opts.Claude == "" {
		return nil
	}
	opts.say("the real Claude Code")
	pairs, err := compareReal(ctx, opts.Effort, opts)
	r.Pairs = append(r.Pairs, pairs...)
	return err
}

func inWorld(ctx context.Context, opts Options, do func(*world) error) error {
	w, err := newWorld(ctx, opts, "")
	if err != nil {
		return err
	}
	return errors.Join(do(w), w.end(ctx))
}

// measureTeams measures start-up, then lets the team grow and measures at each size.
func (w *world) measureTeams(ctx context.Context, opts Options, result *Result) (err error) {
	if err := w.grow(ctx, 0, opts.Agents[0]); err != nil {
		return err
	}
	opts.say("start-up")
	if result.Pairs, err = w.compareStartUp(ctx, opts.Effort); err != nil {
		return err
	}
	reports, err := w.compareReports(ctx, opts.Effort)
	if err != nil {
		return err
	}
	result.Pairs = append(result.Pairs, reports...)
	if result.Inits, err = w.inits(ctx, initRuns); err != nil {
		return err
	}
	faults, err := w.checkFaults(ctx)
	if err != nil {
		return err
	}
	var launchers *watch
	var watching []Check
	running := opts.Agents[0]
	largest := opts.Agents[len(opts.Agents)-1]
	for _, agents := range opts.Agents {
		opts.say("a team of %s", thousands(agents))
		if err := w.grow(ctx, running, agents); err != nil {
			return err
		}
		running = agents
		pairs, err := w.compareAt(ctx, opts.Effort, agents)
		if err != nil {
			return err
		}
		result.Pairs = append(result.Pairs, pairs...)
		if watching == nil && agents >= min(largest, watchedAgents) {
			if watching, err = w.checkWatch(ctx, agents, opts.Idle); err != nil {
				return err
			}
			dash, err := w.checkDash(ctx, agents, opts.Idle)
			if err != nil {
				return err
			}
			watching = append(watching, dash...)
		}
		if launchers == nil && agents >= min(largest, launchersWatched) { // watched while the rest is measured
			if launchers, err = w.watchLaunchers(ctx, agents, opts.Idle); err != nil {
				return err
			}
		}
	}
	result.Pairs = byName(result.Pairs)
	result.Checks, err = launchers.end(ctx, w, opts.Idle)
	result.Checks = slices.Concat([]Check{faults}, result.Checks, watching)
	return err
}

// compareAt measures what depends on the size of the team.
func (w *world) compareAt(ctx context.Context, effort Effort, agents int) ([]Pair, error) {
	pairs, err := w.compareLooks(ctx, effort, agents)
	if err != nil {
		return nil, err
	}
	spawn, err := w.compareSpawn(ctx, effort.fewer(), agents)
	return append(pairs, spawn), err
}

func (o Options) say(format string, args ...any) { fmt.Fprintf(o.Log, "bench: "+format+"\n", args...) }
