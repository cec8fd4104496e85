package claude

import "nbs-worker/internal/claude/transcript"

// OldestTested is the oldest Claude Code that nbs-worker is tested with.
const OldestTested = "2.1.197"

// OlderThanTested tells whether a version is older than [OldestTested].
func OlderThanTested(version string) bool { return transcript.VersionLess(version, 2, 1, 197) }
