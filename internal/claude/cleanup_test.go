package claude

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestCleanupDays(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		user, project, local string
		want                 float64
		source               string
	}{
		"nothing said":            {"", "", "", DefaultCleanupDays, ""},
		"by the user":             {`{"cleanupPeriodDays":3650}`, "", "", 3650, "user"},
		"by the project":          {`{"cleanupPeriodDays":3650}`, `{"cleanupPeriodDays":7}`, "", 7, "project"},
		"by the project's local":  {`{"cleanupPeriodDays":3650}`, `{"cleanupPeriodDays":7}`, `{"cleanupPeriodDays":1}`, 1, "local"},
		"zero":                    {`{"cleanupPeriodDays":0}`, "", "", 0, "user"},
		"not a number, torn, odd": {`{"cleanupPeriodDays":-1}`, `{"cleanupPeriodDays":"7"}`, `{"cleanup`, DefaultCleanupDays, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config, cwd := newConfig(t), t.TempDir()
			files := map[string]string{
				"user": filepath.Join(config.dir, "settings.json"), "project": filepath.Join(cwd, ".claude", "settings.json"),
				"local": filepath.Join(cwd, ".claude", "settings.local.json"),
			}
			for name, text := range map[string]string{"user": c.user, "project": c.project, "local": c.local} {
				if text == "" {
					continue
				}
				rig.Must(t, os.MkdirAll(filepath.Dir(files[name]), 0o700))
				rig.Must(t, os.WriteFile(files[name], []byte(text), 0o600))
			}
			days, source := config.CleanupDays(cwd)
			rig.Check(t, days == c.want && source == files[c.source], "%v days, says %q; want %v, %q", days, source, c.want, c.source)
		})
	}
}
