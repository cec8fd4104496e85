package agent

import (
	"slices"
	"testing"

	"nbs-worker/internal/fail"
)

func TestRulesThatPermitTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given []string
		want  []string // nil: refused
	}{
		{[]string{}, []string{}},
		{[]string{"Read,Write,Bash(git *)"}, []string{"Read", "Write", "Bash(git *)"}},
		{[]string{"Read Write", "Bash(git commit -m *, npm run x)", "Read"}, []string{"Read", "Write", "Bash(git commit -m *, npm run x)"}},
		{[]string{"mcp__home__light-on", "WebFetch(domain:example.com)"}, []string{"mcp__home__light-on", "WebFetch(domain:example.com)"}},
		{[]string{"Bash(echo (x) *)"}, []string{"Bash(echo (x) *)"}},
		{[]string{"--dangerously-skip-permissions"}, nil},
		{[]string{"*"}, nil},
		{[]string{"Bash(git"}, nil},
		{[]string{"Bash()"}, nil},
		{[]string{"Bash) Write("}, nil},
		{[]string{"Read\x00"}, nil},
	} {
		rules, err := ParseToolRules(c.given...)
		if c.want == nil {
			if fail.KindOf(err) != fail.BadInput {
				t.Errorf("%q: %q, %v", c.given, rules, err)
			}
			continue
		}
		if err != nil || !slices.Equal(rules.List(), c.want) {
			t.Errorf("%q: %q, %v; want %q", c.given, rules.List(), err, c.want)
		}
	}
}
