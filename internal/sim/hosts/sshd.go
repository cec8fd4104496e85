package hosts

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// unpacked is the folder in which the packages of sshd are.
func unpacked(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(rig.Root(t), ".cache", "debian", "sshd")
	if _, err := os.Stat(filepath.Join(dir, "usr/sbin/sshd")); err != nil {
		t.Fatalf("sshd is missing: %v\nrun: scripts/bootstrap hosts", err)
	}
	return dir
}

// sshdCommand starts sshd with the libraries that came with it.
func (h *Host) sshdCommand() []string {
	dir := unpacked(h.t)
	libraries, _ := filepath.Glob(filepath.Join(dir, "usr/lib/*-linux-gnu")) // the pattern is constant and well formed
	more, _ := filepath.Glob(filepath.Join(dir, "lib/*-linux-gnu"))
	return []string{
		"/usr/bin/env", "LD_LIBRARY_PATH=" + strings.Join(append(libraries, more...), ":"),
		filepath.Join(dir, "usr/sbin/sshd"), "-D", "-f", h.file("sshd_config"), "-E", h.file("log"),
	}
}

func (h *Host) sshdConfig() string {
	address, port, err := net.SplitHostPort(h.sshd)
	rig.Must(h.t, err)
	set := make([]string, len(h.Variables))
	for i, v := range h.Variables {
		set[i] = `"` + v + `"`
	}
	return strings.Join([]string{
		"ListenAddress " + address,
		"Port " + port,
		"HostKey " + h.file("host_key"),
		"AuthorizedKeysFile " + h.file("authorized_keys"),
		"StrictModes no", // the temporary folder is everybody's
		"PermitRootLogin prohibit-password",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"UsePAM no",
		"UseDNS no",
		"PidFile none",
		"PrintMotd no",
		"SetEnv " + strings.Join(set, " "),
		"",
	}, "\n")
}
