package standin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestStartDelay(t *testing.T) {
	t.Parallel()
	a := start(t, "start-delay=1h")
	// It must have come as far as the delay, or the default disposition of TERM ends it: both are 143.
	a.signal(syscall.SIGTERM)
	code := a.exits()
	rig.Check(t, code == 143, "code = %d", code)
	if _, found := a.registry(); found || a.output() != "" {
		t.Errorf("something was done: %q", a.output())
	}
}

func TestDieAfter(t *testing.T) {
	t.Parallel()
	a := start(t, fmt.Sprintf("die-after=%s,die-code=3", rig.Scaled(time.Second))) // it must be idle by then
	a.idle()
	code := a.exits()
	rig.Check(t, code == 3, "code = %d", code)
	_, found := a.registry()
	rig.Check(t, found, "a crash removed the registry entry")
}

func TestRefuseTerm(t *testing.T) {
	t.Parallel()
	a := start(t, "refuse-term")
	a.idle()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		a.signal(s)
	}
	a.types("Remember 5.\r")
	a.shows("OK, I will remember 5.")
	a.signal(syscall.SIGKILL)
	code := a.exits()
	rig.Check(t, code == 137, "code = %d", code)
}

func TestStopDelay(t *testing.T) {
	t.Parallel()
	a := start(t, "stop-delay=200ms")
	a.idle()
	begin := time.Now()
	a.signal(syscall.SIGTERM)
	if code := a.exits(); code != 143 || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("code %d after %v", code, time.Since(begin))
	}
	_, found := a.registry()
	rig.Check(t, !found, "registry entry left behind")
}

func TestDialogs(t *testing.T) {
	t.Parallel()
	marks := map[string]string{
		"trust": "Accessing workspace:", "api-key": "Detected a custom API key", "bypass": "Bypass Permissions mode",
		"onboarding": "Choose the text style", "login": "Select login method:",
	}
	for name, mark := range marks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t, "dialog="+name)
			a.shows(mark)
			_, found := a.registry()
			rig.Check(t, !found, "registered while a dialog is open")
			a.signal(syscall.SIGTERM)
			code := a.exits()
			rig.Check(t, code == 143, "code = %d", code)
		})
	}
}

func TestNoRegistry(t *testing.T) {
	t.Parallel()
	a := start(t, "no-registry", "--", "Remember 5.")
	a.shows("OK, I will remember 5.")
	entry, found := a.registry()
	rig.Check(t, !found, "%s", entry)
}

func TestNoTranscript(t *testing.T) {
	t.Parallel()
	a := start(t, "no-transcript", "--", "Remember 5.")
	a.shows("OK, I will remember 5.")
	a.types("What number?\r")
	a.shows("● 5")
	found := a.transcripts()
	rig.Check(t, len(found) == 0, "%v", found)
}

func TestLateTranscript(t *testing.T) {
	t.Parallel()
	a := start(t, "late-transcript=1ms", "--", `[[tool Bash {"command":"true"}]]`)
	a.shows("Do you want to proceed?")
	rig.WaitFor(t, "the transcript is there", func() (bool, string) {
		return len(a.transcripts()) == 1, a.output()
	})
	a = start(t, "late-transcript=1ms", "--", "Remember 5.") // which asks for nothing
	a.shows("OK, I will remember 5.")
	found := a.transcripts()
	rig.Check(t, len(found) == 0, "%v", found)
}

func TestWrongSessionID(t *testing.T) {
	t.Parallel()
	a := start(t, "wrong-session-id")
	entry := a.idle()
	rig.Check(t, !strings.Contains(entry, a.id), "%s", entry)
}

func TestPrintError(t *testing.T) {
	t.Parallel()
	a := start(t, "print-error=the sky fell")
	code := a.exits()
	rig.Check(t, code == 1, "code = %d", code)
	a.shows("the sky fell")
}

func TestSpawnChild(t *testing.T) {
	t.Parallel()
	a := start(t, "spawn-child")
	a.idle()
	a.signal(syscall.SIGTERM)
	a.exits()
	// The child is found by what it inherited: a configuration folder that only this test has.
	var left []int
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // constant pattern
	for _, name := range environs {
		data, _ := os.ReadFile(name) // another user's, or gone
		var pid int
		if _, err := fmt.Sscanf(name, "/proc/%d/environ", &pid); err == nil && bytes.Contains(data, []byte(a.world.ConfigDir)) {
			left = append(left, pid)
		}
	}
	if len(left) != 1 {
		t.Fatalf("children left: %v", left)
	}
	err := syscall.Kill(left[0], syscall.SIGKILL)
	rig.Check(t, err == nil, "%v", err)
}

func TestHangup(t *testing.T) {
	t.Parallel()
	a := start(t, "")
	a.idle()
	rig.Must(t, a.tty.Close())
	code := a.exits()
	rig.Check(t, code == 129, "code = %d", code)
}

func TestMessagesQueueWhileBusy(t *testing.T) {
	t.Parallel()
	a := start(t, "", "--", fmt.Sprintf("Remember 5. [[delay %s]]", rig.Scaled(700*time.Millisecond)))
	a.shows("Coalescing…")
	a.types("one\r")
	a.types("What number?\r")
	a.shows("Press up to edit queued messages")
	a.shows("● 5")
	n := len(a.api.Requests())
	rig.Check(t, n == 2, "%d requests, want the queued messages in one turn", n)
}

func TestLongPasteIsMarked(t *testing.T) {
	t.Parallel()
	a := start(t, "")
	a.idle()
	a.types("\x1b[200~1\r2\r3\r4\x1b[201~\r")
	a.shows("You said:")
	got := a.api.Requests()[0].Last()
	want := "<pasted_content id=\"21dc\">\n1\n2\n3\n4\n</pasted_content id=\"21dc\">"
	rig.Check(t, got == want, "prompt = %q, want %q", got, want)
}

func TestEscapeInterrupts(t *testing.T) {
	t.Parallel()
	a := start(t, "", "--", "hello [[delay 1h]]")
	a.shows("Coalescing…")
	a.types("\x1b")
	a.shows("Interrupted")
	a.idle()
}

func TestInterruptTwiceLeaves(t *testing.T) {
	t.Parallel()
	a := start(t, "")
	a.idle()
	a.types("\x03\x03")
	code := a.exits()
	rig.Check(t, code == 0, "code = %d", code)
}
