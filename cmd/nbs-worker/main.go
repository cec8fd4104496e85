// Command nbs-worker supervises a team of Claude Code agents in tmux.
package main

import (
	"os"

	"nbs-worker/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System()))
}
