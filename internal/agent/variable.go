package agent

import "strings"

// Variable reads a variable from an environment; "" when it is not there.
func Variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
