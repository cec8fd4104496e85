package transcript

import (
	"cmp"
	"fmt"
)

// VersionLess reports whether a version of Claude Code such as "2.1.329" is older than the given one. Each record has
// the version of the claude that wrote it. An unreadable version counts as new.
func VersionLess(version string, major, minor, patch int) bool {
	var v [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n != len(v) {
		return false
	}
	return cmp.Or(cmp.Compare(v[0], major), cmp.Compare(v[1], minor), cmp.Compare(v[2], patch)) < 0
}
