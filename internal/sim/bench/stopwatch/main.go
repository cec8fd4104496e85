// A claude that is the real one, and keeps how long that ran: it runs $BENCH_CLAUDE with its own arguments, and writes
// the nanoseconds into $BENCH_RAN.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func main() {
	cmd := exec.Command(os.Getenv("BENCH_CLAUDE"), os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	begun := time.Now()
	err := cmd.Run()
	ran := strconv.FormatInt(int64(time.Since(begun)), 10)
	if err := errors.Join(err, os.WriteFile(os.Getenv("BENCH_RAN"), []byte(ran), 0o600)); err != nil {
		fmt.Fprintln(os.Stderr, "stopwatch:", err)
		os.Exit(1)
	}
}
