package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A program that asked for JSON gets the errors of its command line so too, wherever that was
// asked for.
func TestErrorsOfTheCommandLineAreJSON(t *testing.T) {
	t.Parallel()
	for line, words := range map[string]string{
		"list --bogus --json":                        "unknown flag --bogus",
		"list --json --bogus":                        "unknown flag --bogus",
		"list --json=true -x":                        "unknown flag -x",
		"list --json=maybe":                          "--json \"maybe\" is not true or false",
		"list alpha --json":                          "list takes no arguments",
		"frobnicate --json":                          "unknown command \"frobnicate\"",
		"--json frobnicate":                          "unknown command \"frobnicate\"",
		"--json":                                     "a command is needed",
		"--bogus --json":                             "unknown flag --bogus",
		"rm alpha --json":                            "unknown command \"rm\"",
		"spawn --json":                               "one handle is needed, 0 given",
		"session --json":                             "a handle is needed",
		"session .. --json":                          "is not valid",
		"spawn a --timeout soon --json":              "is not a time such as 90s or 10m",
		"spawn a --timeout 1s --no-wait --json":      "exclude each other",
		"spawn a --prompt x --prompt-file y --json":  "exclude each other",
		"resume --all --down --json":                 "exclude each other",
		"wait a --json":                              "--for STATE is needed",
		"attach a --json":                            "unknown flag --json",
		"help frobnicate --json":                     "unknown flag --json",
		"spawn a --json --permission-mode yolo":      "is not one of",
		"spawn a --json --session-id 1234 -- --json": "is not a UUID",
	} {
		r := run(append([]string{"--root", t.TempDir()}, strings.Fields(line)...)...).want(t, fail.BadInput)
		var said wire.Failure
		if err := json.Unmarshal([]byte(r.err), &said); err != nil || r.out != "" {
			t.Errorf("%s: %v\nstdout: %q\nstderr: %s", line, err, r.out, r.err)
			continue
		}
		e := said.Error
		rig.Check(t, e.Kind == "bad input" && e.ExitCode == int(fail.BadInput) && e.Hints != nil && strings.Contains(e.Message, words), "%s: %+v", line, e)
	}
	for _, line := range []string{"list --bogus", "list --json=false --bogus", "spawn a --bogus -- --json"} {
		run(append([]string{"--root", t.TempDir()}, strings.Fields(line)...)...).want(t, fail.BadInput, "nbs-worker: "+strings.Fields(line)[0]+": unknown flag --bogus\n")
	}
}
