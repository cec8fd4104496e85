// Command nbs-worker-services is nbs-worker with the services of package services. nbs-worker executes it for the
// commands that need them; nobody else has to call it.
package main

import (
	"os"

	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/app/services"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System(), services.All()))
}
