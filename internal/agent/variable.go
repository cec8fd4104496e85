package agent

import "strings"

// Variable reads a variable from an environment; "" when it is not there. Of several of one name the first counts, as
// for libc, Node and Go, which are what reads the environments that this program looks at.
func Variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
