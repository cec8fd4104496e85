package hosts

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/hosts/boot"
	"nbs-worker/internal/sim/hosts/units"
	"nbs-worker/internal/sim/rig"
)

// Host is one simulated machine.
type Host struct {
	*rig.World

	Name      string
	Network   *Network // between a client and this host
	Variables []string // of whoever logs in there

	t    testing.TB
	sshd string       // where it listens
	init *exec.Cmd    // nil while the host is down
	says bytes.Buffer // what init says; read after it has ended
}

// numbered is how many hosts this test process has had: each has addresses of its own.
var numbered atomic.Uint32

// Start makes a host and boots it. baseURL is that of the API which Claude asks there. A further NAME=VALUE is added to
// the variables of a login.
func Start(t testing.TB, name, baseURL string, variables ...string) *Host {
	t.Helper()
	rig.NeedsRoot(t)
	rig.Needs(t, "nsenter")
	world := rig.NewWorld(t, baseURL)
	n := numbered.Add(1)
	h := &Host{
		World: world, Name: name, t: t,
		sshd:      fmt.Sprintf("127.1.%d.%d:22", n/250, n%250+1),
		Variables: world.Env(variables...),
	}
	rig.Must(t, os.MkdirAll(h.file("bin"), 0o700))
	rig.Must(t, os.MkdirAll(h.file("systemd/linger"), 0o700))
	for _, name := range units.Names() {
		rig.Must(t, os.Symlink(rig.Sim(t), filepath.Join(h.file("bin"), name)))
	}
	for i, v := range h.Variables {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			h.Variables[i] = "PATH=" + h.file("bin") + ":" + path
		}
	}
	h.makeKey("host_key")
	h.write("authorized_keys", "")
	h.Network = newNetwork(t, fmt.Sprintf("127.2.%d.%d:22", n/250, n%250+1), h.sshd)
	t.Cleanup(h.Stop)
	h.Boot()
	return h
}

// file is the path of one of the files that the host is made of.
func (h *Host) file(name string) string { return filepath.Join(h.Root, "machine", name) }

func (h *Host) write(name, text string) {
	h.t.Helper()
	rig.Must(h.t, os.WriteFile(h.file(name), []byte(text), 0o600))
}

// empty removes what is in a folder, as a boot does with one in memory.
func (h *Host) empty(dir string) {
	h.t.Helper()
	rig.Must(h.t, os.RemoveAll(dir))
	rig.Must(h.t, os.Mkdir(dir, 0o700))
}

func (h *Host) makeKey(name string) { makeKey(h.t, h.file(name), h.Name) }

func makeKey(t testing.TB, path, comment string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
}

// Boot switches the host on, and returns when its sshd answers. The services of its user start if the user lingers.
func (h *Host) Boot() {
	h.t.Helper()
	h.empty(h.RunDir)
	h.empty(h.TmuxDir)
	h.write("boot_id", newBootID())
	h.write("passwd", h.users())
	h.write("sshd_config", h.sshdConfig())
	programs := [][]string{h.sshdCommand()}
	if units.Lingers(h.file("systemd/linger")) {
		programs = append(programs, []string{filepath.Join(h.file("bin"), "systemctl"), "--user", "start", "default.target"})
	}
	machine := boot.Machine{
		Name:     h.Name,
		Files:    []boot.File{{Path: "/proc/sys/kernel/random/boot_id", Is: h.file("boot_id")}, {Path: "/etc/passwd", Is: h.file("passwd")}, {Path: filepath.Dir(units.Lingering), Is: h.file("systemd")}},
		Empty:    []string{"/run", "/var/log"},
		Folders:  []string{"/run/sshd", "/run/systemd", "/run/systemd/system"}, // the last says that systemd runs it
		Programs: programs,
	}
	text, err := json.Marshal(machine)
	rig.Must(h.t, err)
	h.write("machine.json", string(text))

	h.says.Reset()
	h.init = exec.Command(rig.Sim(h.t), "boot", h.file("machine.json"))
	h.init.Env, h.init.Dir = h.Variables, h.Home
	h.init.Stdout, h.init.Stderr = &h.says, &h.says
	h.init.SysProcAttr = rig.OwnMachine()
	rig.Must(h.t, h.init.Start())
	h.write("pid", strconv.Itoa(h.init.Process.Pid))
	rig.WaitFor(h.t, "sshd answers at "+h.Name, func() (bool, string) {
		log, _ := os.ReadFile(h.file("log"))
		return answers(h.sshd), string(log)
	})
	h.Network.Up()
}

// answers reports whether an sshd introduces itself at an address.
func answers(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	words := make([]byte, 4)
	_, err = c.Read(words)
	return err == nil && string(words) == "SSH-"
}

// Stop takes the power from the host. When it returns, nothing runs there.
func (h *Host) Stop() {
	if h.init == nil {
		return
	}
	h.Network.Down()
	_ = h.init.Process.Kill() // with it the kernel kills all others of its namespace
	_ = h.init.Wait()
	h.init = nil
	if h.t.Failed() {
		log, _ := os.ReadFile(h.file("log"))
		h.t.Logf("%s said: %s\nits sshd: %s", h.Name, h.says.String(), log)
	}
}

// Reboot stops the host and boots it.
func (h *Host) Reboot() {
	h.t.Helper()
	h.Stop()
	h.Boot()
}

// Command prepares a program that is run at the host, without ssh, in its project.
func (h *Host) Command(args ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(h.init.Process.Pid), "--mount", "--uts", "--pid", "--wdns=" + h.Project, "--"}
	cmd := exec.Command("nsenter", append(enter, args...)...)
	cmd.Env = h.Variables
	return cmd
}

// Entrance writes a program that does at the host what another program does there, in the folder in which it is called.
func (h *Host) Entrance(program string) string {
	h.t.Helper()
	syscall.ForkLock.RLock() // see Client
	defer syscall.ForkLock.RUnlock()
	name := "at-" + h.Name
	h.write(name, fmt.Sprintf("#!/bin/sh\nexec nsenter --target \"$(cat %s)\" --mount --uts --pid --wdns=\"$PWD\" -- %s \"$@\"\n", h.file("pid"), program))
	rig.Must(h.t, os.Chmod(h.file(name), 0o700)) // it is run
	return h.file(name)
}

// newBootID is like the kernel's.
func newBootID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// users is this machine's list with the host's home, and with the user of sshd.
func (h *Host) users() string {
	text, err := os.ReadFile("/etc/passwd")
	rig.Must(h.t, err)
	users := []string{"root:x:0:0:root:" + h.Home + ":/bin/sh", "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin"}
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, ":"); name != "root" && name != "sshd" {
			users = append(users, strings.TrimSpace(line))
		}
	}
	return strings.Join(users, "\n") + "\n"
}
