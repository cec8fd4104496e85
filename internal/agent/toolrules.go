package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// ToolRules are rules that permit tools, in Claude's own form: "Read,Write,Bash(git *)". "": no rules. They are one text,
// so that what has them can be compared.
type ToolRules string

var toolRule = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.*-]*(\(.+\))?$`)
})

// ParseToolRules checks rules. Each of the given texts may have several, separated by commas or spaces outside of
// brackets, as for Claude. Errors: BadInput.
func ParseToolRules(given ...string) (ToolRules, error) {
	var rules []string
	for _, text := range given {
		if err := CheckText("a rule for tools", text); err != nil {
			return "", err
		}
		for _, rule := range splitRules(text) {
			if !toolRule().MatchString(rule) || !human.IsLegible(rule) || strings.Count(rule, "(") != strings.Count(rule, ")") {
				return "", fail.Errorf(fail.BadInput, "%s is not a rule that permits a tool", human.Quote(rule)).
					Hint("rules are written as for Claude: Read,Write,'Bash(git *)'")
			}
			if !slices.Contains(rules, rule) {
				rules = append(rules, rule)
			}
		}
	}
	return ToolRules(strings.Join(rules, ",")), nil
}

// List returns the rules one by one; never nil.
func (r ToolRules) List() []string { return append([]string{}, splitRules(string(r))...) }

// splitRules splits a text at the commas and white space that are in no brackets.
func splitRules(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && strings.ContainsRune(", \t\n", r)
	})
}
