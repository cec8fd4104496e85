package rig

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofCampaigns are the variables that choose what a test does.
var ofCampaigns = []string{"NBS_TEST_OLDEST", "NBS_FAULTS", "NBS_FAULTS_SEED", "NBS_TRUTH", "NBS_MESSAGES", "NBS_REQUESTS", "NBS_REQUESTS_SEED", "NBS_PARACHUTE", "NBS_PARACHUTE_SEED", "NBS_NIGHTS", "NBS_NIGHT_SEED", "NBS_MEMORY_KILLS", "NBS_MEMORY_SEED", "NBS_HOST_CUTS", "NBS_HOST_CUTS_SEED", "NBS_HOST_AGENTS", shareVariable, seedVariable}

// sayHowToRepeat prints, for a test that has failed, the command that runs it alone.
func sayHowToRepeat(t testing.TB) {
	if !t.Failed() {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	folder, err := filepath.Rel(Root(t), dir)
	if err != nil {
		return
	}
	var command []string
	for _, name := range ofCampaigns {
		if value := os.Getenv(name); value != "" {
			command = append(command, name+"="+value)
		}
	}
	var levels []string
	for _, level := range strings.Split(t.Name(), "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	command = append(command, "go test ./"+folder, "-run '"+strings.Join(levels, "/")+"' -count=1")
	t.Logf("to repeat: %s", strings.Join(command, " "))
}
