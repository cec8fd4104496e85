package main

import "nbs-worker/internal/sim/standin"

func runClaude(args []string) int { return standin.Main(args) }
