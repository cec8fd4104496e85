// The floor of start-up: a program that has cobra and one command that does nothing.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "empty"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) {}})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
