package agent

import (
	"slices"
	"strings"
)

// PermissionMode is how Claude Code asks, or does not ask, before it acts.
type PermissionMode string

// BypassPermissions lets Claude act without asking: the default for unattended work.
const BypassPermissions PermissionMode = "bypassPermissions"

// PermissionModes are the modes of Claude Code 2.1. An older version may refuse some.
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
	return "", Errorf(BadInput, "permission mode %s is not one of %s", Quote(s), strings.Join(names, ", "))
}
