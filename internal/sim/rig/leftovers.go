package rig

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// endLeftovers kills what a test left running, so that nobody writes into its folders any more. What belongs to the
// test is known by the configuration folder in its environment, which no other process has.
func endLeftovers(t testing.TB, configDir string) {
	t.Helper()
	mark := []byte("CLAUDE_CONFIG_DIR=" + configDir + "\x00")
	ok, detail := poll(10*time.Second, func() (bool, string) {
		found := marked(mark)
		for _, p := range found {
			_ = p.Kill() // gone meanwhile is fine
			_ = p.Release()
		}
		return len(found) == 0, strconv.Itoa(len(found))
	})
	if !ok {
		t.Errorf("processes of this test cannot be ended: %s", detail)
	}
}

// marked lists the processes whose environment holds the mark. The handle is taken before the look, so that it cannot
// come to name another process.
func marked(mark []byte) []*os.Process {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is constant and well formed
	var found []*os.Process
	for _, name := range environs {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environ, mark) {
			_ = p.Release()
			continue
		}
		found = append(found, p)
	}
	return found
}
