package agents

import (
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/team/caller"
)

// readSettings reads the value of --settings: an object in JSON, or the path of a file with one. An agent must not learn
// what is in a file, or whether it exists. Errors: Held; BadInput.
func readSettings(by *caller.Caller, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	if err := by.Check(caller.Rule{Right: caller.Manager, What: "give settings"}); err != nil {
		return "", err
	}
	if claude.NamesSettings(value) {
		return claude.ParseSettings(value)
	}
	text, err := smallfile.Read(value, claude.OwnSettingsLimit)
	if err != nil {
		return "", fail.Errorf(fail.BadInput, "settings %s: %w", human.Quote(value), err)
	}
	return claude.ParseSettings(string(text))
}
