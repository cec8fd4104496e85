package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// seen calls then when a text has been written to it.
type seen struct {
	text, at string
	then     func()
	mu       sync.Mutex
}

func (s *seen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(text)
	if strings.Contains(s.text, s.at) {
		s.then()
	}
	return len(text), nil
}

// What agents at hosts need is told once, and what could not be told is told by the next watch.
func TestWatchOfAllHosts(t *testing.T) {
	far := newProject(t, uitest.Record("alpha"))
	dir := withProjects(t, map[string]string{"build1": far, "down": "/"})
	t.Chdir(t.TempDir()) // without a project
	t.Setenv("XDG_STATE_HOME", rig.MemoryDir(t))
	told := filepath.Join(dir, "told")
	rig.Must(t, syscall.Mkfifo(told, 0o600))
	rig.WriteProgram(t, dir+"/tell", "#!/bin/sh\nexec cat >"+told+"\n")
	policy := filepath.Join(dir, "policy.yaml")
	rig.Must(t, os.WriteFile(policy, []byte("notify:\n  command: ["+dir+"/tell]\n  timeout: 10m\n"), 0o600))
	watches := func(ctx context.Context, out *seen) {
		var said seen
		said.then = func() {}
		said.at = "\x00"
		code := execute(ctx, []string{"watch", "--hosts", "--policy", policy}, ui.Streams{In: strings.NewReader(""), Out: out, Err: &said})
		rig.Equal(t, code, int(fail.Interrupted), "its exit code; it said %s", said.text)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	first := &seen{at: "\talpha@build1\tdown\t", then: leave}
	watches(ctx, first)
	rig.Equal(t, strings.Count(first.text, "\n"), 1, "lines: %s", first.text)

	ctx, leave = context.WithCancel(t.Context())
	defer leave()
	var notice wire.Notice
	go func() {
		defer leave()
		text, err := os.ReadFile(told)
		rig.Check(t, err == nil && json.Unmarshal(text, &notice) == nil, "%s, %v", text, err)
	}()
	second := &seen{at: "\x00"}
	watches(ctx, second)
	rig.Equal(t, second.text, "", "told again")
	rig.Check(t, notice.Event == "down" && notice.Handle == "alpha" && notice.Host == "build1", "%+v", notice)

	run("watch", "--hosts", "--policy", dir+"/none").want(t, fail.NotFound, "there is no policy")
	run("watch", "--host=build1").want(t, fail.BadInput, "cannot be run at a host from here")
}

// A watch goes on without a restart when its user has mended a login, and when there is another host, also one that it cannot
// follow at first.
func TestWatchTakesUpWhatItsUserChanges(t *testing.T) {
	dir := withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("alpha"))})
	other := newProject(t, uitest.Record("bob"))
	t.Chdir(t.TempDir())
	home := t.TempDir()
	t.Setenv("HOME", home)
	state := rig.MemoryDir(t)
	t.Setenv("XDG_STATE_HOME", state)
	noLog := filepath.Join(state, "nbs-worker", "hosts", "build2.log") // a folder cannot be written as a log
	rig.Must(t, os.MkdirAll(noLog, 0o700))
	refuses, refused := filepath.Join(dir, "of-build1-refuses"), filepath.Join(dir, "refused")
	rig.Must(t, os.WriteFile(refuses, nil, 0o600))
	rig.Must(t, syscall.Mkfifo(refused, 0o600))
	go func() {
		_, err := os.ReadFile(refused)
		rig.Check(t, err == nil && os.Remove(refuses) == nil, "the login is not mended: %v", err)
		rig.Check(t, os.Mkdir(filepath.Join(home, ".ssh"), 0o700) == nil, "no folder for ssh")
		rig.Check(t, os.WriteFile(filepath.Join(home, ".ssh", "config"), nil, 0o600) == nil, "no configuration of ssh")
	}()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	hosts := filepath.Join(dir, "config", "nbs-worker", "hosts.yaml")
	write := func(more string) {
		text, err := os.ReadFile(hosts)
		rig.Check(t, err == nil && os.WriteFile(hosts+".new", append(text, more...), 0o600) == nil && os.Rename(hosts+".new", hosts) == nil, "%v", err)
	}
	out := &seen{at: "\talpha@build1\tdown\t"}
	out.then = func() {
		out.at, out.then = "\tbob@build2\tdown\t", leave
		write("  build2:\n    destination: of-build2\n    folder: " + other + "\n")
	}
	said := &seen{at: "the hosts stay as they were: open the log: "}
	said.then = func() {
		said.at = "\x00"
		rig.Check(t, os.Remove(noLog) == nil, "the log is still a folder")
		write("")
	}
	code := execute(ctx, []string{"watch", "--hosts"}, ui.Streams{In: strings.NewReader(""), Out: out, Err: said})
	rig.Equal(t, code, int(fail.Interrupted), "its exit code; it said %s", said.text)
	rig.Equal(t, strings.Count(out.text, "\n"), 2, "lines: %s", out.text)
}
