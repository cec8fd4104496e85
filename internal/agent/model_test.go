package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func TestParseModelTakes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "opus", "OPUS", "sonnet[1m]", "opusplan", "claude-sonnet-5-5", "claude-haiku-4-5-20251001",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4@20250514",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-v1:0",
	} {
		model, err := agent.ParseModel(name)
		rig.Check(t, err == nil && string(model) == name, "ParseModel(%q) = %q, %v; want it as it is", name, model, err)
	}
}

func TestParseModelRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"x; touch F", "-p", "--model", "$(touch F)", "`touch F`", "opus sonnet", "opus\n", "opus\x00", "[1m]",
		"\x1b[31m", "mod\u00e8le", "a'b", `a"b`, "a#{pid}", strings.Repeat("m", 257),
	} {
		model, err := agent.ParseModel(name)
		rig.Check(t, model == "" && fail.KindOf(err) == fail.BadInput, "ParseModel(%q) = %q, %v; want bad input", name, model, err)
	}
}

func TestSuggestionNamesTheAliasOneSlipAway(t *testing.T) {
	t.Parallel()
	for typed, want := range map[agent.Model]agent.Model{
		"sonet":      "sonnet", // a letter missing
		"sonnnet":    "sonnet", // one too many
		"sonnat":     "sonnet", // a wrong one
		"opsu":       "opus",   // two exchanged
		"pous":       "opus",
		"opus1":      "opus",
		"OPSU":       "opus",
		"opsu[1m]":   "opus[1m]",
		"opsu[1M]":   "opus[1m]",
		"defualt":    "default",
		"haikku":     "haiku",
		"opuspaln":   "opusplan",
		"bes":        "best",
		"opus":       "",
		"sonnet":     "",
		"Sonnet[1m]": "",
		"":           "",
		"[1m]":       "",
		"o":          "",
		"opsuu":      "",
		"suop":       "",
		"gpt-5":      "",

		"claude-sonnet-5-5":      "",
		"claude-opus-4-20250514": "",
		"us.anthropic.sonnet":    "",
	} {
		rig.Equal(t, typed.Suggestion(), want, "Suggestion(%q)", typed)
	}
}

func TestParsePermissionMode(t *testing.T) {
	t.Parallel()
	for _, mode := range agent.PermissionModes {
		got, err := agent.ParsePermissionMode(string(mode))
		rig.Check(t, err == nil && got == mode, "ParsePermissionMode(%q) = %q, %v", mode, got, err)
	}
	for _, word := range []string{"", "bypass", "BypassPermissions", "plan ", "-plan", "acceptEdits\n", "plan;auto"} {
		mode, err := agent.ParsePermissionMode(word)
		if mode != "" || fail.KindOf(err) != fail.BadInput {
			t.Fatalf("ParsePermissionMode(%q) = %q, %v; want bad input", word, mode, err)
		}
		for _, valid := range agent.PermissionModes {
			rig.Check(t, strings.Contains(err.Error(), string(valid)), "the refusal of %q does not offer %s: %v", word, valid, err)
		}
	}
}

// What is asked for is checked; what is recorded, or Claude says, is taken as it is.
func TestChooseModel(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]agent.Model{
		"": "", "opus": "opus", "sonnet[1m]": "sonnet[1m]", "claude-sonnet-5-5": "claude-sonnet-5-5", "claude-opus-4-8": "claude-opus-4-8", "my-table": "my-table",
		"exactly:sonet": "sonet", "exactly:opus": "opus",
	} {
		model, err := agent.ChooseModel(typed)
		rig.Check(t, err == nil && model == want, "%q: %q, %v", typed, model, err)
	}
	for typed, near := range map[string]string{"sonet": "did you mean sonnet?", "opuss[1m]": "did you mean opus[1m]?", "claude-sonet-5": "did you mean claude-sonnet-5?", "a b": "is not valid", "exactly:a b": "is not valid"} {
		model, err := agent.ChooseModel(typed)
		rig.Check(t, model == "" && fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), near), "%q: %q, %v", typed, model, err)
	}
}
