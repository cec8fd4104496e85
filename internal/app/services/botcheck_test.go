package services

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// On a Mac, launchd runs serve.
func TestServeOfAMac(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	opened, err := store.Create(dir)
	rig.Must(t, err)
	mac := fake.New()
	mac.Mac = true
	for answer, want := range map[string]string{
		"exit 113":                   "note: nbs-serve-x is not loaded",
		"echo 'state = not running'": "warning: nbs-serve-x does not run",
		"echo ' pid = 7'":            "ok: nbs-serve-x runs",
	} {
		rig.WriteProgram(t, filepath.Join(dir, "launchctl"), "#!/bin/sh\n"+answer+"\n")
		check := BotCheck{Supervisor: &supervisor.Supervisor{Project: &observe.Project{Machine: mac.Machine(), Store: opened}}, Service: "nbs-serve-x"}
		check.checkService(t.Context())
		found := check.found.Findings
		rig.Check(t, len(found) == 2 && string(found[0].Level)+": "+found[0].What == want && found[1].What == "nbs-worker serve does not run here", "%s: %+v", answer, found)
	}
}
