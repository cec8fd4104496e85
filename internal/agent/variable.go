package agent

import "strings"

// Variable returns a variable from an environment; "" if it is missing. If a name occurs several times, the first one
// counts, as in libc, Node and Go, which read the environments that this program looks at.
func Variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
