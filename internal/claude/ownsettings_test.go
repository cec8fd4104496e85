package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: `{}`,
		"{\n \"b\" : [1.0, true],\n\"a\": null }": `{"a":null,"b":[1,true]}`,
		`{"permissions":{"allow":["Read"]}}`:      `{"permissions":{"allow":["Read"]}}`,
		`{"env":{"LANG":"C"}}`:                    `{"env":{"LANG":"C"}}`,
	} {
		got, err := ParseSettings(text)
		rig.Check(t, err == nil && got == want, "%s: %s, %v", text, got, err)
		again, err := ParseSettings(got)
		rig.Check(t, err == nil && again == got && CheckSettings(got) == nil, "%s again: %s, %v", text, again, err)
	}
	rig.Must(t, CheckSettings(""))
	for text, want := range map[string]string{
		``:                                       "it is no JSON",
		`{`:                                      "it is no JSON",
		`{} {}`:                                  "it is no JSON",
		`{"a":1,"a":2}`:                          "it is no JSON",
		"{\"a\":\"\xff\"}":                       "it is no JSON",
		`[]`:                                     "an object belongs here",
		`"x"`:                                    "an object belongs here",
		`{"hooks":[]}`:                           "Claude does not read it",
		`{"hooks":{"Stop":"x"}}`:                 "Claude does not read it",
		`{"permissions":{"deny":3}}`:             "Claude does not read it",
		`{"env":{"A":1}}`:                        "Claude does not read it",
		`{"model":"opus"}`:                       "model cannot be set for an agent",
		`{"disableAllHooks":false}`:              "nbs-worker needs claude's hooks",
		`{"statusLine":{}}`:                      "statusLine cannot be set",
		`{"cleanupPeriodDays":1}`:                "conversations of all projects",
		`{"permissions":{"defaultMode":"plan"}}`: "permissions.defaultMode",
		`{"env":{"NBS_ROOT":"/"}}`:               "variable NBS_ROOT",
		`{"env":{"LD_PRELOAD":"/x"}}`:            "variable LD_PRELOAD",
		`{"env":{"API_KEY":"x"}}`:                "the record would keep a secret",
		`{"a":"` + strings.Repeat("x", OwnSettingsLimit) + `"}`: "more than 32768 bytes",
	} {
		_, err := ParseSettings(text)
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), want), "%.60s: %v; want %s", text, err, want)
	}
}

// An agent's own settings add to ours, and take nothing from them.
func TestJoinSettings(t *testing.T) {
	t.Parallel()
	ours := Settings("/bin/nbs", Closed{All: []string{"/closed"}}, Chosen{}, true)
	same, err := JoinSettings(ours, "")
	rig.Check(t, err == nil && same == ours, "%s, %v", same, err)

	own, err := ParseSettings(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}],"PreToolUse":[{"matcher":"Bash","hooks":[]}]},
		"permissions":{"deny":["Read(./.env)"],"allow":["Bash(make)"]},"env":{"A":"b"},"alwaysThinkingEnabled":true,"idleCompaction":true}`)
	rig.Must(t, err)
	both, err := JoinSettings(Settings("/bin/nbs", Closed{All: []string{"/closed"}}, Chosen{}.With(own), true), own)
	rig.Must(t, err)
	type settings struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
		Permissions struct{ Deny, Allow []string }
		Env         map[string]string
		StatusLine  struct{ Command string }
		EditorMode  string

		AlwaysThinkingEnabled, IdleCompaction bool
		AutoContinueAtUsageLimit              *bool
	}
	var was, now settings
	rig.Must(t, json.Unmarshal([]byte(ours), &was))
	rig.Must(t, json.Unmarshal([]byte(both), &now))
	for event, groups := range was.Hooks {
		rig.Check(t, len(now.Hooks[event]) >= 1 && now.Hooks[event][0].Hooks[0] == groups[0].Hooks[0], "%s: %+v", event, now.Hooks[event])
	}
	rig.Check(t, len(now.Hooks["Stop"]) == 2 && now.Hooks["Stop"][1].Hooks[0].Command == "mine" && now.Hooks["PreToolUse"][0].Matcher == "Bash", "hooks: %+v", now.Hooks)
	rig.Same(t, "deny", append(was.Permissions.Deny, "Read(./.env)"), now.Permissions.Deny)
	rig.Same(t, "allow", []string{"Bash(make)"}, now.Permissions.Allow)
	rig.Same(t, "env", map[string]string{ScreenReaderVariable: "0", "A": "b"}, now.Env)
	rig.Check(t, now.StatusLine == was.StatusLine && now.EditorMode == "normal" && now.AlwaysThinkingEnabled, "%s", both)
	rig.Check(t, now.IdleCompaction && now.AutoContinueAtUsageLimit != nil && !*now.AutoContinueAtUsageLimit, "%s", both)
}
