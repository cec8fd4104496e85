package claude_test

import (
	"slices"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/sim/rig"
)

func TestProviderNames(t *testing.T) {
	t.Parallel()
	r := &agent.Spec{Env: map[string]string{"AWS_REGION": "own"}}
	env := []string{
		"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_PROFILE=p", "AWS_REGION=x", "https_proxy=p", "GOOGLE_CLOUD_PROJECT=g",
		"CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDECODE=1", "PATH=/bin", "ANTHROPIC_BAD-NAME=x", "ANTHROPIC_EMPTY=", "AWS_PROFILE=again",
	}
	want := []string{"ANTHROPIC_API_KEY", "AWS_PROFILE", "CLAUDE_CODE_USE_BEDROCK", "GOOGLE_CLOUD_PROJECT", "https_proxy"}
	got := claude.ProviderNames(r, env)
	rig.Check(t, slices.Equal(got, want), "%q", got)
}

func TestForgetful(t *testing.T) {
	t.Parallel()
	for want, env := range map[string]map[string]string{
		"":                                {"CLAUDE_CODE_CHILD_SESSION": "0", "CLAUDE_CODE_SKIP_PROMPT_HISTORY": "false"},
		"CLAUDE_CODE_CHILD_SESSION":       {"CLAUDE_CODE_CHILD_SESSION": "1"},
		"CLAUDE_CODE_SKIP_PROMPT_HISTORY": {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "true"},
	} {
		rig.Equal(t, claude.Forgetful(func(name string) string { return env[name] }), want, "%v", env)
	}
	forced := map[string]string{"CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDE_CODE_FORCE_SESSION_PERSISTENCE": "1"}
	rig.Equal(t, claude.Forgetful(func(name string) string { return forced[name] }), "", "forced to keep")
}

// A claude that only shows what it is can reach nothing of the user's, and nobody.
func TestScratchEnvHasNoAccount(t *testing.T) {
	t.Parallel()
	env := claude.ScratchEnv([]string{"ANTHROPIC_API_KEY=mine", "HTTPS_PROXY=mine", "CLAUDE_CONFIG_DIR=mine", "CLAUDE_CODE_OAUTH_TOKEN=mine", "NBS_HANDLE=mine", "HOME=/home/ann"}, "/scratch")
	for _, entry := range env {
		value := entry[len(entry)-4:]
		rig.Check(t, value != "mine", "it gets %s", entry)
	}
	for _, want := range []string{"HOME=/home/ann", "CLAUDE_CONFIG_DIR=/scratch", "HTTPS_PROXY=http://127.0.0.1:9"} {
		rig.Check(t, slices.Contains(env, want), "no %s", want)
	}
}
