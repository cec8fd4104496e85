// Package memory has the commands that turn the memory of agents on, read it and change it.
package memory

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for what is remembered.
var Commands = []ui.Command{
	{Name: "memory", Make: newMemoryCmd},
}
