package doctor

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// helpArgs and versionArgs make claude print its options or its version, and exit. It then
// reads no conversation and connects to nothing.
var (
	helpArgs    = []string{"--help"}
	versionArgs = []string{"--version"}
)

// reliedFlags are the options that every start uses.
func reliedFlags() []string {
	sample := &agent.Spec{SessionID: "id", Model: "model"}
	var flags []string
	for _, opening := range []claude.Opening{claude.OpenNew, claude.OpenResume} {
		for _, arg := range claude.Args(sample, opening, "", "{}") {
			if strings.HasPrefix(arg, "--") && !slices.Contains(flags, arg) {
				flags = append(flags, arg)
			}
		}
	}
	return flags
}

// missingFlags are those of reliedFlags that a claude's own help does not name.
func missingFlags(help string) []string {
	named := map[string]bool{}
	for _, word := range strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" \t\n,=[]<>()|\"'`", r) }) {
		named[word] = true
	}
	return slices.DeleteFunc(reliedFlags(), func(flag string) bool { return named[flag] })
}

// readVersion returns the version in the output of claude --version, such as
// "2.1.329 (Claude Code)"; "" for anything else.
func readVersion(printed string) string {
	version, rest, _ := strings.Cut(strings.TrimSpace(printed), " ")
	if !strings.Contains(rest, "Claude Code") || strings.Trim(version, "0123456789.") != "" || strings.Count(version, ".") != 2 {
		return ""
	}
	return version
}
