package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/sim/bench"
)

func runBench(args []string) int {
	flags := flag.NewFlagSet("nbs-sim bench", flag.ContinueOnError)
	opts := bench.Options{Log: os.Stderr, Recovered: 5}
	flags.StringVar(&opts.Worker, "worker", "bin/nbs-worker", "nbs-worker to measure")
	flags.StringVar(&opts.Claude, "claude", "", "Claude Code to start too; none: only what stands for it")
	flags.IntVar(&opts.Effort.Min, "min", 30, "samples a side at least")
	flags.IntVar(&opts.Effort.Max, "max", 200, "samples a side at most")
	flags.DurationVar(&opts.Effort.Limit, "limit", 5*time.Second, "time for one comparison, once it has its least samples")
	flags.DurationVar(&opts.Idle, "idle", 5*time.Second, "how long idle launchers and watch settle, and are watched at least")
	agents := flags.String("agents", "1,10,100,1000", "sizes of the team")
	out := flags.String("out", "build/bench.json", "where the result is kept")
	readme := flags.String("readme", "", "measure nothing: put the table of the kept result into this file")
	strict := flags.Bool("strict", false, "exit 1 when a budget is missed")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *readme != "" {
		return publish(*out, *readme)
	}
	var err error
	if opts.Agents, err = numbers(*agents); err != nil {
		return misused(err.Error())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	result, err := measured(ctx, opts)
	if err == nil {
		err = result.Save(*out)
	}
	if err != nil {
		return failed(err)
	}
	if err := result.Print(os.Stdout); err != nil {
		return failed(err)
	}
	if *strict && len(result.Missed()) > 0 {
		return 1
	}
	return 0
}

// publish puts a kept result into the README.
func publish(from, readme string) int {
	result, err := bench.Load(from)
	if err == nil {
		err = result.PutInto(readme)
	}
	if err != nil {
		return failed(err)
	}
	return 0
}

// measured runs the bench with programs that were built for it. They and nbs-worker are measured as they are installed.
func measured(ctx context.Context, opts bench.Options) (bench.Result, error) {
	tools, err := os.MkdirTemp("", "nbs-bench")
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { _ = os.RemoveAll(tools) }() // a temporary folder
	if opts.Claude != "" {
		if opts.Claude, err = filepath.Abs(opts.Claude); err != nil {
			return bench.Result{}, err
		}
	}
	built := filepath.Join(tools, "built")
	if err := bench.BuildTools(ctx, built); err != nil {
		return bench.Result{}, err
	}
	floors, err := filepath.Glob(filepath.Join(built, "*"))
	if err != nil {
		return bench.Result{}, err
	}
	if err := bench.Install(tools, append(floors, opts.Worker)...); err != nil {
		return bench.Result{}, err
	}
	opts.Tools, opts.Worker = tools, filepath.Join(tools, filepath.Base(opts.Worker))
	return bench.Run(ctx, opts)
}

// numbers parses a list of sizes, each greater than the one before it.
func numbers(list string) ([]int, error) {
	var found []int
	last := 0
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n <= last {
			return nil, fmt.Errorf("--agents %s: growing numbers, separated by commas", list)
		}
		found = append(found, n)
		last = n
	}
	return found, nil
}
