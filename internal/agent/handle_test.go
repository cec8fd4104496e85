package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func TestParseHandleTakesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "7", "theologian", "Gate-Keeper", "x_y-z", "0-0", strings.Repeat("n", 64)} {
		handle, err := agent.ParseHandle(name)
		rig.Check(t, err == nil && string(handle) == name, "ParseHandle(%q) = %q, %v; want it as it is", name, handle, err)
	}
}

func TestParseHandleRefuses(t *testing.T) {
	t.Parallel()
	for why, name := range map[string]string{
		"empty":                  "",
		"dot":                    ".",
		"parent":                 "..",
		"path upward":            "../x",
		"path":                   "a/b",
		"absolute path":          "/abs",
		"backslash":              `a\b`,
		"NUL":                    "a\x00b",
		"final line break":       "alpha\n",
		"inner line break":       "alpha\nbeta",
		"65 characters":          strings.Repeat("n", 65),
		"300 characters":         strings.Repeat("n", 300),
		"leading dash":           "-rf",
		"leading underscore":     "_x",
		"tmux id":                "$x",
		"tmux window":            "@x",
		"tmux pane":              "%1",
		"tmux exact target":      "=x",
		"tmux pattern":           "nbs-*",
		"tmux separator":         "a:b",
		"tmux dot":               "a.b",
		"shell":                  "x;touch PWN",
		"tmux format":            "#(touch PWN)",
		"blank":                  "a b",
		"Cyrillic look-alike":    "\u0430lpha",
		"full-width look-alike":  "\uff41lpha",
		"Kelvin sign":            "\u212aelvin",
		"Arabic digit":           "a\u0661",
		"combining mark":         "a\u0301",
		"zero-width joiner":      "a\u200db",
		"terminal escape":        "a\x1b]0;x\x07",
		"invalid UTF-8":          "a\xff",
		"name of a record file.": "alpha.json",
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			handle, err := agent.ParseHandle(name)
			if handle != "" || fail.KindOf(err) != fail.BadInput {
				t.Fatalf("ParseHandle(%q) = %q, %v; want bad input", name, handle, err)
			}
			rig.Check(t, !strings.ContainsAny(err.Error(), "\x00\n\x1b\x07"), "the message passes control characters on: %q", err)
			if len(err.Error()) > 300 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestHandlesThatDifferInCaseAreOne(t *testing.T) {
	t.Parallel()
	a, b := agent.Handle("Bob"), agent.Handle("bOB")
	rig.Check(t, a.Same(b) && a.Key() == b.Key(), "%s and %s are two agents", a, b)
	a, b = agent.Handle("bob"), agent.Handle("bobby")
	rig.Check(t, !a.Same(b), "%s and %s are one agent", a, b)
}
