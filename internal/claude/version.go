package claude

import (
	"strings"

	"nbs-worker/internal/claude/transcript"
)

// OldestTested is the oldest Claude Code that nbs-worker is tested with.
const OldestTested = "2.1.197"

// OlderThanTested reports whether a version is older than [OldestTested].
func OlderThanTested(version string) bool { return transcript.VersionLess(version, 2, 1, 197) }

// ReadVersion returns the version in the output of claude --version, such as "2.1.329 (Claude Code)", or "" for any
// other output.
func ReadVersion(printed string) string {
	version, rest, _ := strings.Cut(strings.TrimSpace(printed), " ")
	if !strings.Contains(rest, "Claude Code") || strings.Trim(version, "0123456789.") != "" || strings.Count(version, ".") != 2 {
		return ""
	}
	return version
}
