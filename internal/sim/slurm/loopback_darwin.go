package slurm

import "testing"

func nameLoopback(t testing.TB) {
	t.Helper()
	t.Fatal("a cluster is simulated on Linux only")
}
