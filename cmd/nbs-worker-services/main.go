// Command nbs-worker-services is nbs-worker with the services of package services. nbs-worker executes it for the
// commands that need them; nobody else has to call it.
package main

import (
	"os"

	"nbs-worker/internal/cli"
	"nbs-worker/internal/services"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System(), services.All()))
}
