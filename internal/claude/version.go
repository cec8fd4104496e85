package claude

import (
	"cmp"
	"fmt"
)

// OldestTested is the oldest Claude Code that nbs-worker is tested with.
const OldestTested = "2.1.197"

// OlderThanTested tells whether a version is older than [OldestTested].
func OlderThanTested(version string) bool { return versionLess(version, 2, 1, 197) }

// versionLess tells whether a version like "2.1.329" is older than the given one.
// One that cannot be read is taken for new.
func versionLess(version string, major, minor, patch int) bool {
	var v [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n != len(v) {
		return false
	}
	return cmp.Or(cmp.Compare(v[0], major), cmp.Compare(v[1], minor), cmp.Compare(v[2], patch)) < 0
}
