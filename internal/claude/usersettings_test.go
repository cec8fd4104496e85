package claude

import (
	"slices"
	"testing"
)

func TestSettingSources(t *testing.T) {
	t.Parallel()
	all := []string{"user", "project", "local"}
	for _, c := range []struct{ args, want []string }{
		{nil, all},
		{[]string{"--debug", "--add-dir", "user"}, all},
		{[]string{"--setting-sources", "user"}, []string{"user"}},
		{[]string{"--setting-sources=user,local"}, []string{"user", "local"}},
		{[]string{"--setting-sources", "user, project"}, []string{"user", "project"}},
		{[]string{"--setting-sources="}, nil},
		{[]string{"--setting-sources", "user", "--setting-sources=project"}, []string{"project"}},
		{[]string{"--setting-sources"}, all},
	} {
		if got := settingSources(c.args); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
