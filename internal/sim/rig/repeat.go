package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ofCampaigns are the variables that choose what a test does.
var ofCampaigns = []string{"NBS_TEST_OLDEST", "NBS_FAULTS", "NBS_FAULTS_SEED", "NBS_TRUTH", "NBS_MESSAGES", "NBS_PARACHUTE", "NBS_PARACHUTE_SEED", "NBS_NIGHTS", "NBS_NIGHT_SEED"}

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
	command := ""
	for _, name := range ofCampaigns {
		if value := os.Getenv(name); value != "" {
			command += fmt.Sprintf("%s=%s ", name, value)
		}
	}
	var levels []string
	for _, level := range strings.Split(t.Name(), "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	t.Logf("to repeat: %sgo test ./%s -run '%s' -count=1", command, folder, strings.Join(levels, "/"))
}
