// A launcher that waits is not woken to read the limits of its cgroup again.
//
//go:debug updatemaxprocs=0

// Command nbs-worker supervises a team of Claude Code agents in tmux.
package main

import (
	"os"

	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/app/cli/ui"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], ui.System()))
}
