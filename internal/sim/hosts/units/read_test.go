package units

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	t.Setenv("USER", "me")
	t.Setenv("SHELL", "/bin/sh")
	for path, text := range map[string]string{
		".config/systemd/user/a.service": "[Unit]\nAfter=b.service c.service\nConditionPathExistsGlob=!/x/%%?\n[Service]\nType=oneshot\nEnvironment=A=1 \"B=two words\"\nEnvironmentFile=-%E/nbs-worker/environment\nExecStart=/bin/x \"a \\\"b\\\" \\x41%%\" $$HOME \\; end\n",
		".config/nbs-worker/environment": "KEY=secret\n",
	} {
		rig.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o700))
		rig.Must(t, os.WriteFile(filepath.Join(home, path), []byte(text), 0o600))
	}
	u, err := read("a.service")
	rig.Must(t, err)
	rig.Same(t, "the command", []string{"/bin/x", `a "b" A%`, "$HOME", ";", "end"}, u.command)
	rig.Same(t, "the variables", []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "XDG_RUNTIME_DIR=/run/user/7", "USER=me", "SHELL=/bin/sh", "A=1", "B=two words", "KEY=secret",
	}, u.env)
	rig.Same(t, "what comes before", []string{"b.service", "c.service"}, u.after)
	rig.Equal(t, u.unless+" "+u.kind, "/x/%? oneshot", "the rest")
}
