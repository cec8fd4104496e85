package claude_test

import (
	"reflect"
	"strings"
	"testing"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/sim/rig"
)

func TestReadLaunch(t *testing.T) {
	tests := []struct {
		line string // words between bars
		want claude.Launched
	}{
		{"", claude.Launched{}},
		{"claude", claude.Launched{}},
		{"claude|Remember 42.", claude.Launched{}},
		{"claude|--model|sonnet|Remember 42.", claude.Launched{Model: "sonnet"}},
		{"claude|Remember 42.|--model=opus[1m]", claude.Launched{Model: "opus[1m]"}},
		{"claude|--permission-mode|plan|--resume|4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", claude.Launched{PermissionMode: "plan"}},
		{"claude|-c|--dangerously-skip-permissions", claude.Launched{PermissionMode: "bypassPermissions"}},
		{"claude|--permission-mode|plan|--dangerously-skip-permissions", claude.Launched{}},
		{"claude|--resume|--model|opus|--fork-session", claude.Launched{Model: "opus"}},
		{"claude|-r4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11|-n|desk", claude.Launched{Extra: []string{"-n", "desk"}}},
		{"claude|--verbose|fix it", claude.Launched{Extra: []string{"--verbose"}}},
		{"claude|--add-dir|a|b|--|fix it", claude.Launched{Extra: []string{"--add-dir", "a", "b"}}},
		{"claude|--add-dir|a|b|--verbose|fix it", claude.Launched{Extra: []string{"--add-dir", "a", "b", "--verbose"}}},
		{"claude|--append-system-prompt|--be-brief|go", claude.Launched{Extra: []string{"--append-system-prompt=--be-brief"}}},
		{"claude|--append-system-prompt=be brief|go", claude.Launched{Extra: []string{"--append-system-prompt=be brief"}}},
		{"claude|--|--model|opus", claude.Launched{}},
		{"claude|--settings|s.json|go", claude.Launched{Lost: []string{"--settings"}}},
		{"claude|-w|tree|--tmux", claude.Launched{Lost: []string{"-w", "--tmux"}}},
		{"claude|--new-switch|go", claude.Launched{Extra: []string{"--new-switch"}, Unclear: []string{"--new-switch"}}},
		{"claude|--new-switch=x|go", claude.Launched{Extra: []string{"--new-switch=x"}}},
		{"claude|-dapi|go", claude.Launched{Extra: []string{"-dapi"}}},
		{"claude|--debug|api|--model", claude.Launched{Extra: []string{"--debug", "api"}}},
	}
	for _, test := range tests {
		got := claude.ReadLaunch(strings.Split(test.line, "|"))
		rig.Check(t, reflect.DeepEqual(got, test.want), "%s\n got %+v\nwant %+v", test.line, got, test.want)
		if len(got.Unclear) == 0 {
			err := claude.CheckExtraArgs(got.Extra)
			rig.Check(t, err == nil, "%s: %v", test.line, err)
		}
	}
}
