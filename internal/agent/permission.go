package agent

import (
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// PermissionMode says how Claude Code asks before it acts, if it asks.
type PermissionMode string

// BypassPermissions lets Claude act without asking: the default for unattended work.
const BypassPermissions PermissionMode = "bypassPermissions"

// PermissionModes are the modes of Claude Code 2.1. An older version may refuse some of them.
var PermissionModes = []PermissionMode{
	"acceptEdits", "auto", BypassPermissions, "default", "dontAsk", "manual", "plan",
}

// ParsePermissionMode checks a mode. Errors: BadInput.
func ParsePermissionMode(s string) (PermissionMode, error) {
	if slices.Contains(PermissionModes, PermissionMode(s)) {
		return PermissionMode(s), nil
	}
	names := make([]string, len(PermissionModes))
	for i, m := range PermissionModes {
		names[i] = string(m)
	}
	return "", fail.Errorf(fail.BadInput, "permission mode %s is not one of %s", human.Quote(s), strings.Join(names, ", "))
}

// widening orders the modes by what they let Claude do without a person. plan: read and explore. dontAsk: only what
// rules allow. default, also called manual: ask for the rest. acceptEdits: edit. auto: what a second model allows. An
// agent in any other mode may enter plan by itself, so plan is within all of them. A mode that is not listed is wider
// than all.
var widening = map[PermissionMode]int{"plan": 1, "dontAsk": 2, "default": 3, "manual": 3, "acceptEdits": 4, "auto": 5, BypassPermissions: 6}

// Within reports whether a mode lets Claude do no more than the other mode.
func (m PermissionMode) Within(other PermissionMode) bool {
	mine, known := widening[m]
	return known && mine <= widening[other]
}
