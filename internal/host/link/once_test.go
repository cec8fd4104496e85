package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/trust"
)

// sshThat puts an ssh in front of the PATH that runs a script.
func sshThat(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	rig.WriteProgram(t, filepath.Join(dir, "ssh"), "#!/bin/sh\n"+script+"\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestWhyAHostCannotBeReached(t *testing.T) {
	for said, want := range map[string]struct {
		reason Reason
		kind   fail.Kind
	}{
		"u@b: Permission denied (publickey).":                          {Refused, fail.Unfit},
		"Host key verification failed.":                                {HostKey, fail.Unfit},
		"ssh: Could not resolve hostname b: Name or service not known": {Unknown, fail.Unfit},
		"ssh: connect to host b port 22: Connection timed out":         {TimedOut, fail.TimedOut},
		"Timeout, server b not responding.":                            {TimedOut, fail.TimedOut},
		"Warning: Identity file k not accessible: No such file or directory.\nssh: connect to host b port 22: Connection refused": {Down, fail.TimedOut},
		"kex_exchange_identification: Connection closed by remote host":                                                           {Cut, fail.TimedOut},
	} {
		sshThat(t, "printf '%s\\n' '"+said+"' >&2; exit 255")
		_, err := Once(t.Context(), host.Host{Name: "b", Destination: "b"}, "list")
		far, is := errors.AsType[*Unreachable](err)
		rig.Check(t, is && far.Reason == want.reason && fail.KindOf(err) == want.kind, "%s: %v", said, err)
		rig.Check(t, len(fail.HintsOf(err)) == 1, "%s: hints %q", said, fail.HintsOf(err))
	}
}

func TestTheAnswerOfAProgram(t *testing.T) {
	sshThat(t, `cat; echo wrong >&2; exit 5`)
	answer, err := OncePlain(t.Context(), host.Host{Name: "b", Destination: "b"}, []byte("given"), "cat")
	rig.Must(t, err)
	rig.Same(t, "the answer", Answer{Out: []byte("given"), Said: "wrong\n", Code: 5}, answer)
}

// Ctrl-C is for nbs-worker alone, which says that it was interrupted.
func TestCtrlCIsNotForSSH(t *testing.T) {
	sshThat(t, `echo $$ $(cut -d' ' -f5 /proc/$$/stat)`)
	answer, err := Once(t.Context(), host.Host{Name: "b", Destination: "b"}, "list")
	rig.Must(t, err)
	ids := strings.Fields(string(answer.Out))
	rig.Check(t, len(ids) == 2 && ids[0] == ids[1], "its id and that of its group: %q", ids)
}

func TestAMissingProgram(t *testing.T) {
	sshThat(t, `echo "env: nbs-worker: Datei oder Verzeichnis nicht gefunden" >&2; exit 127`)
	h := host.Host{Name: "b", Destination: "u@b"}
	_, err := Once(t.Context(), h, "version")
	rig.Check(t, strings.Join(fail.HintsOf(err), "") == "nbs-worker host add b u@b --install", "%v: %q", err, fail.HintsOf(err))
	answer, err := OncePlain(t.Context(), h, nil, "systemctl")
	rig.Check(t, err == nil && answer.Code == 127, "another program: %+v, %v", answer, err)
}

// An ssh that stays, and whose child keeps its pipes open, is left at the end of the time.
func TestTheTimeOfAnSSHIsBounded(t *testing.T) {
	sshThat(t, `sleep 5 & wait`)
	h := host.Host{Name: "b", Destination: "b"}
	const short = 50 * time.Millisecond
	_, err := once(t.Context(), h, short, Command(h, "list"), nil)
	rig.Check(t, fail.KindOf(err) == fail.TimedOut && len(fail.HintsOf(err)) == 1, "by its own limit: %v", err)
	ctx, end := context.WithTimeout(t.Context(), short)
	defer end()
	_, err = Once(ctx, h, "list")
	rig.Check(t, fail.KindOf(err) == fail.TimedOut, "by the caller's: %v", err)
}

func TestTheLogIsBounded(t *testing.T) {
	t.Parallel()
	home := trust.Home(t.TempDir())
	open := func() *Link {
		l, err := Open(home, host.Host{Name: "b"}, Usual)
		rig.Must(t, err)
		t.Cleanup(l.Close)
		return l
	}
	one, other := open(), open()
	line := strings.Repeat("x", 1023) + "\n"
	for i := range 5000 {
		_, err := fmt.Fprintf([]*Link{one, other}[i%2].Log, "%d %s", i, line)
		rig.Must(t, err)
	}
	text, err := os.ReadFile(logOf(home, "b"))
	rig.Must(t, err)
	rig.Check(t, len(text) < 2<<20 && strings.Contains(string(text), "\n4998 x") && strings.HasSuffix(string(text), "\n4999 "+line), "%d bytes", len(text))
	rig.Must(t, ForgetLog(home, "b"))
	rig.Must(t, ForgetLog(home, "b"))
}
