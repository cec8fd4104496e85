package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestWhatTurnsHooksOff(t *testing.T) {
	t.Parallel()
	const off, on, other = `{"disableAllHooks":true}`, `{"disableAllHooks":false}`, `{"model":"x"}`
	for _, c := range []struct {
		name                           string
		policy, dropped, local, shared string
		user                           string
		want                           string
	}{
		{name: "nothing"},
		{name: "the user", user: off, want: "disableAllHooks in user"},
		{name: "the project turns them on again", user: off, shared: on},
		{name: "what settles nothing", user: off, shared: other, local: "{", want: "disableAllHooks in user"},
		{name: "the user's own file in the project", local: off, shared: on, want: "disableAllHooks in local"},
		{name: "a policy", policy: off, user: on, want: "disableAllHooks in policy/managed-settings.json"},
		{name: "a policy for others' hooks", policy: `{"allowManagedHooksOnly":true}`, want: "allowManagedHooksOnly in policy/managed-settings.json"},
		{name: "a dropped-in policy", policy: other, dropped: `{"allowManagedHooksOnly":true}`, want: "allowManagedHooksOnly in policy/managed-settings.d/1.json"},
		{name: "what only a policy may say", user: `{"allowManagedHooksOnly":true}`},
	} {
		dir := t.TempDir()
		var files []string
		for _, f := range []struct{ name, text string }{
			{"policy/managed-settings.json", c.policy}, {"policy/managed-settings.d/1.json", c.dropped},
			{"local", c.local}, {"shared", c.shared}, {"user", c.user},
		} {
			path := filepath.Join(dir, f.name)
			if f.text != "" {
				rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				rig.Must(t, os.WriteFile(path, []byte(f.text), 0o600))
			}
			if filepath.Dir(f.name) == "." {
				files = append(files, path)
			}
		}
		got := strings.ReplaceAll(hooksOff(filepath.Join(dir, "policy"), files), dir+"/", "")
		rig.Equal(t, got, c.want, "%s", c.name)
	}
}
