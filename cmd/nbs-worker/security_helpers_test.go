package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"nbs-worker/internal/sim/rig"
)

// verbs act on an agent by its handle.
var verbs = []string{"spawn", "session", "resume", "stop", "dismiss", "run", "attach"}

// words are the arguments of a verb for a handle, whatever that begins with.
func words(verb, handle string) []string {
	if verb == "spawn" { // what follows its "--" is claude's
		return []string{verb, handle}
	}
	return []string{verb, "--", handle}
}

// under makes nbs-worker run under a shell's preparation, such as "umask 000".
func (m *team) under(preparation string) {
	m.Helper()
	path := filepath.Join(m.TempDir(), "nbs-worker")
	script := fmt.Sprintf("#!/bin/sh\n%s\nexec %s \"$@\"\n", preparation, m.worker)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		m.Fatal(err)
	}
	m.worker = path
}

// spyOnTmux writes down the arguments and the environment of every tmux that is
// started from now on, however short its life.
func (m *team) spyOnTmux() (seen func() string) {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		m.Fatal(err)
	}
	dir := m.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\n{ printf '%%s\\n' \"$@\"; env; } >>%s\nexec %s \"$@\"\n", log, tmux)
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte(script), 0o700); err != nil {
		m.Fatal(err)
	}
	m.env = append(m.env, "PATH="+dir+":"+os.Getenv("PATH"))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil || !bytes.Contains(text, []byte("new-session")) {
			m.Fatalf("the spy saw no start: %v\n%s", err, text)
		}
		return string(text)
	}
}

// sighting is a process on whose command line another user saw a text.
type sighting struct {
	pid     int
	cmdline string
}

var sightingPattern = regexp.MustCompile(`(?m)^/proc/(\d+)/cmdline:(.*)$`)

// watchAsNobody reads all command lines of the machine, again and again, as a user
// without rights, until the look ends: then it tells where the text was seen.
func (m *team) watchAsNobody(text string) (look func() []sighting) {
	m.Helper()
	const script = `while :; do printf %s "$CANARY" | grep -saF -f - /proc/[0-9]*/cmdline; [ -n "$begun" ] || { begun=x; echo begun; }; done`
	watch := exec.Command("sh", "-c", script)
	watch.Dir, watch.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "CANARY=" + text}
	watch.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: rig.Nobody, Gid: rig.Nobody}}
	watch.WaitDelay = 5 * time.Second
	out := &lockedBuffer{}
	watch.Stdout, watch.Stderr = out, out
	if err := watch.Start(); err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { _ = watch.Process.Kill() })
	m.waitFor("the other user looks", func() (bool, string) { return strings.Contains(out.String(), "begun"), out.String() })
	return func() []sighting {
		_ = watch.Process.Kill()
		_ = watch.Wait()
		var seen []sighting
		for _, match := range sightingPattern.FindAllStringSubmatch(out.String(), -1) {
			pid, _ := strconv.Atoi(match[1])
			seen = append(seen, sighting{pid: pid, cmdline: strings.ReplaceAll(match[2], "\x00", " ")})
		}
		return seen
	}
}

// steering finds a character that makes a terminal do something, but for line breaks
// and tabs.
func steering(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// evil is a text that takes over a terminal which shows it as it is: title, clear,
// 8-bit sequences, overwriting, reversed order.
const evil = "evil\x1b]0;owned\x07\x1b[2J\u009b31m\u009d0;x\u009c\r\x08\x7f\u202egnp.\u2066\u200f\u061c"

// process is the process entry of a record.
func process(fields map[string]any) map[string]any { return fields["process"].(map[string]any) }

// sleeper is a process that has nothing to do with any agent, with a child of its own.
func (m *team) sleeper() (pid, child int) {
	m.Helper()
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out := &lockedBuffer{}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	m.waitFor("the sleeper sleeps", func() (bool, string) { return strings.HasSuffix(out.String(), "\n"), out.String() })
	child, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() {
		_ = syscall.Kill(child, syscall.SIGKILL)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, child
}

// startTicks is field 22 of /proc/<pid>/stat.
func (m *team) startTicks(pid int) uint64 {
	m.Helper()
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		m.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		m.Fatal(err)
	}
	return ticks
}

// lockedBuffer takes the output of a process while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
