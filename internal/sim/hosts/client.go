package hosts

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Client gives a home the keys and the configuration of ssh by which its user reaches the hosts by their names. It
// returns a folder for the front of the PATH, with an ssh that reads this configuration: ssh itself looks for the home
// of its user in the system's list, and not in the environment.
func Client(t testing.TB, home string, all ...*Host) (bin string) {
	t.Helper()
	rig.Needs(t, "ssh")
	ssh, err := exec.LookPath("ssh")
	rig.Must(t, err)
	dir := filepath.Join(home, ".ssh")
	rig.Must(t, os.MkdirAll(dir, 0o700))
	key := filepath.Join(dir, "id_ed25519")
	makeKey(t, key, "client")
	public, err := os.ReadFile(key + ".pub")
	rig.Must(t, err)
	var config, known strings.Builder
	for _, h := range all {
		h.write("authorized_keys", string(public))
		address, port, err := net.SplitHostPort(h.Network.Address)
		rig.Must(t, err)
		fmt.Fprintf(&config, "Host %s\n\tHostName %s\n\tPort %s\n\tUser root\n", h.Name, address, port)
		hostKey, err := os.ReadFile(h.file("host_key.pub"))
		rig.Must(t, err)
		fmt.Fprintf(&known, "%s %s", address, hostKey)
	}
	fmt.Fprintf(&config, "Host *\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tIdentityAgent none\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		key, filepath.Join(dir, "known_hosts"))
	bin = filepath.Join(home, "bin")
	syscall.ForkLock.RLock() // a child of another test must not hold a script open while it is run
	defer syscall.ForkLock.RUnlock()
	for path, text := range map[string]string{
		filepath.Join(dir, "config"):      config.String(),
		filepath.Join(dir, "known_hosts"): known.String(),
		filepath.Join(bin, "ssh"):         fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, filepath.Join(dir, "config")),
	} {
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		rig.Must(t, os.WriteFile(path, []byte(text), 0o700)) // one of them is run
	}
	return bin
}
