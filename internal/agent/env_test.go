package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func TestParseEnvReadsAssignments(t *testing.T) {
	t.Parallel()
	got, err := agent.ParseEnv([]string{"A=1", "EMPTY=", "URL=http://h/?a=b", "A=2", "_x9=two words\nand lines", "TOKENIZER=fast"})
	rig.Must(t, err)
	want := map[string]string{"A": "2", "EMPTY": "", "URL": "http://h/?a=b", "_x9": "two words\nand lines", "TOKENIZER": "fast"}
	diff := cmp.Diff(want, got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	if none, err := agent.ParseEnv(nil); err != nil || none == nil || len(none) != 0 {
		t.Errorf("ParseEnv(nil) = %v, %v; want an empty map", none, err)
	}
}

func TestParseEnvRefuses(t *testing.T) {
	t.Parallel()
	for _, assignment := range []string{
		"NAME", "", "=value", "9A=x", "A B=x", "A-B=x", "A\x00=x", "A=x\x00y", "A=\xff", "\u00c4=x",
	} {
		_, err := agent.ParseEnv([]string{assignment})
		rig.Check(t, fail.KindOf(err) == fail.BadInput && err != nil, "ParseEnv(%q): %v; want bad input", assignment, err)
	}
}

func TestParseEnvKeepsNoSecret(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "anthropic_api_key", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "CLIENT_SECRET",
		"DB_PASSWORD", "PASSWD", "GOOGLE_APPLICATION_CREDENTIALS", "MY_CREDENTIAL",
	} {
		_, err := agent.ParseEnv([]string{"OK=1", name + "=canary-value"})
		if err == nil || fail.KindOf(err) != fail.BadInput {
			t.Errorf("%s was taken: %v", name, err)
			continue
		}
		hints := strings.Join(fail.HintsOf(err), " ")
		rig.Check(t, strings.Contains(hints, "export "+name), "%s: the hint does not say how to pass it: %q", name, hints)
		rig.Check(t, !strings.Contains(err.Error()+hints, "canary-value"), "%s: the refusal prints the secret", name)
	}
}
