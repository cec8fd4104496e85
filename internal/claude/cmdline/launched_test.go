package cmdline

import (
	"reflect"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestReadLaunch(t *testing.T) {
	tests := []struct {
		line string // words between bars
		want Launched
	}{
		{"", Launched{}},
		{"claude", Launched{}},
		{"claude|Remember 42.", Launched{}},
		{"claude|--model|sonnet|Remember 42.", Launched{Model: "sonnet"}},
		{"claude|Remember 42.|--model=opus[1m]", Launched{Model: "opus[1m]"}},
		{"claude|--permission-mode|plan|--resume|4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", Launched{PermissionMode: "plan"}},
		{"claude|-c|--dangerously-skip-permissions", Launched{PermissionMode: "bypassPermissions"}},
		{"claude|--permission-mode|plan|--dangerously-skip-permissions", Launched{}},
		{"claude|--resume|--model|opus|--fork-session", Launched{Model: "opus"}},
		{"claude|-r4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11|-n|desk", Launched{Extra: []string{"-n", "desk"}}},
		{"claude|--verbose|fix it", Launched{Extra: []string{"--verbose"}}},
		{"claude|--add-dir|a|b|--|fix it", Launched{Extra: []string{"--add-dir", "a", "b"}}},
		{"claude|--add-dir|a|b|--verbose|fix it", Launched{Extra: []string{"--add-dir", "a", "b", "--verbose"}}},
		{"claude|--append-system-prompt|--be-brief|go", Launched{Extra: []string{"--append-system-prompt=--be-brief"}}},
		{"claude|--append-system-prompt=be brief|go", Launched{Extra: []string{"--append-system-prompt=be brief"}}},
		{"claude|--|--model|opus", Launched{}},
		{"claude|--settings|s.json|go", Launched{Lost: []string{"--settings"}}},
		{"claude|-w|tree|--tmux", Launched{Lost: []string{"-w", "--tmux"}}},
		{"claude|--new-switch|go", Launched{Extra: []string{"--new-switch"}, Unclear: []string{"--new-switch"}}},
		{"claude|--new-switch=x|go", Launched{Extra: []string{"--new-switch=x"}}},
		{"claude|-dapi|go", Launched{Extra: []string{"-dapi"}}},
		{"claude|--debug|api|--model", Launched{Extra: []string{"--debug", "api"}}},
	}
	for _, test := range tests {
		got := ReadLaunch(strings.Split(test.line, "|"))
		rig.Check(t, reflect.DeepEqual(got, test.want), "%s\n got %+v\nwant %+v", test.line, got, test.want)
		if len(got.Unclear) == 0 {
			err := CheckExtraArgs(got.Extra)
			rig.Check(t, err == nil, "%s: %v", test.line, err)
		}
	}
}
