package doctor

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// helpArgs and versionArgs make claude print its options or its version, and exit. It then reads no conversation and
// connects to nothing.
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

// missingFlags returns the options of reliedFlags that claude's own help does not name.
func missingFlags(help string) []string {
	named := map[string]bool{}
	for _, word := range strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" \t\n,=[]<>()|\"'`", r) }) {
		named[word] = true
	}
	return slices.DeleteFunc(reliedFlags(), func(flag string) bool { return named[flag] })
}
