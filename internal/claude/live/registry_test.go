package live

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Entries as the two versions write them.
const (
	entry197 = `{"pid":31558,"sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","cwd":"/srv/project","startedAt":1795208383445,"procStart":"353737",
"version":"2.1.197","peerProtocol":1,"kind":"interactive","entrypoint":"cli","name":"work-ff","nameSource":"derived","status":"waiting",
"updatedAt":1795208383999,"statusUpdatedAt":1795208383999,"waitingFor":"permission prompt"}`
	entry329 = `{"pid":31558,"sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","cwd":"/srv/project","startedAt":1795208383445,"procStart":"353737",
"version":"2.1.329","peerProtocol":1,"peerFeatures":["inbox"],"pidDomain":"linux:3d1219c7:pid:[4026531836]","tmux":"m1:@1.%1","messagingSocketPath":"/tmp/cc-socks/31558.sock",
"kind":"interactive","entrypoint":"cli","name":"work-e3","nameSource":"derived","nameSince":1,"asksForConvertedSkills":null,"status":"idle"}`
)

func TestEntryIsRead(t *testing.T) {
	t.Parallel()
	want := Entry{
		PID: 31558, SessionID: sessionID, Cwd: "/srv/project", Start: StartAt(353737), StartedMS: 1795208383445, Version: "2.1.197",
		Kind: "interactive", Entrypoint: "cli", Status: "waiting", WaitingFor: "permission prompt", UpdatedMS: 1795208383999, WrittenMS: 1795208383999,
	}
	at := want.StatusSince()
	rig.Check(t, at.Equal(time.Date(2026, 11, 20, 20, 59, 43, 999e6, time.UTC)), "since %s", at)
	r := RegistryIn(t.TempDir())
	r.put(t, "31558.json", entry197)
	got, err := r.Entry(31558)
	diff := cmp.Diff(want, got, cmp.AllowUnexported(Start{}))
	rig.Check(t, diff == "" && err == nil, "2.1.197: %v, -want +got:\n%s", err, diff)
	want.Version, want.Status, want.WaitingFor, want.UpdatedMS, want.WrittenMS = "2.1.329", "idle", "", 0, 0
	at = want.StatusSince()
	rig.Check(t, at.IsZero(), "since %s, which the entry does not say", at)
	r.put(t, "31558.json", entry329)
	got, err = r.Entry(31558)
	diff = cmp.Diff(want, got, cmp.AllowUnexported(Start{}))
	rig.Check(t, diff == "" && err == nil, "2.1.329: %v, -want +got:\n%s", err, diff)
}

func TestWithoutAnEntry(t *testing.T) {
	t.Parallel()
	r := RegistryIn(t.TempDir())
	_, err := r.Entry(7)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "without a registry: %v; want not exist", err)
	r.put(t, "7."+strings.Repeat("0", 64)+".key", "k") // 2.1.329 has it while a dialog is open
	_, err = r.Entry(7)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "with a key only: %v; want not exist", err)
}

// What cannot be read is not the same as what is not there.
func TestDamagedEntry(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"empty":             "",
		"torn":              entry197[:100],
		"of another pid":    strings.Replace(entry197, "31558", "31559", 1),
		"ticks as a number": strings.Replace(entry197, `"353737"`, `353737`, 1),
		"ticks of letters":  strings.Replace(entry197, `"353737"`, `"x"`, 1),
		"null":              "null",
		"too large":         `{"x":"` + strings.Repeat("x", registryLimit) + `","pid":31558}`,
	} {
		r := RegistryIn(t.TempDir())
		r.put(t, "31558.json", text)
		entry, err := r.Entry(31558)
		if err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "registry entry") {
			t.Errorf("%s: %+v, %v; want an error that names the entry", what, entry, err)
		}
	}
}

func TestOpenOn(t *testing.T) {
	t.Parallel()
	r := RegistryIn(t.TempDir())
	if open, err := r.OpenOn(sessionID); len(open) != 0 || err != nil {
		t.Errorf("without a registry: %v, %v", open, err)
	}
	of := func(pid string, id agent.SessionID) string {
		return strings.NewReplacer("31558", pid, string(sessionID), string(id)).Replace(entry197)
	}
	r.put(t, "31558.json", entry197)
	r.put(t, "31560.json", of("31560", sessionID)) // its process may be gone long since
	r.put(t, "31561.json", of("31561", otherID))
	r.put(t, "31562.json", of("31562", sessionID)[:200]) // torn
	r.put(t, "31563.json", of("31564", sessionID))       // of another pid
	r.put(t, "31565.key", of("31565", sessionID))
	r.put(t, "notes.json", of("31566", sessionID))
	r.put(t, "31567.json/x", "a folder")
	open, err := r.OpenOn(sessionID)
	rig.Must(t, err)
	var pids []int
	for _, entry := range open {
		pids = append(pids, entry.PID)
	}
	slices.Sort(pids)
	diff := cmp.Diff([]int{31558, 31560}, pids)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

// An entry that is being written is looked at again: a person may just have come into the conversation by
// /resume, which no command line shows. One that stays torn is not waited for, and hides no other.
func TestOpenOnReadsATornEntryAgain(t *testing.T) {
	t.Parallel()
	whole := strings.Replace(entry197, "31558", strconv.Itoa(os.Getpid()), 1)
	for what, torn := range map[string]string{"empty": "", "cut short": whole[:30], "cut short behind the id": whole[:200]} {
		synctest.Test(t, func(t *testing.T) {
			r := RegistryIn(t.TempDir())
			own := strconv.Itoa(os.Getpid()) + ".json"
			r.put(t, own, torn)
			r.put(t, strconv.Itoa(os.Getppid())+".json", torn)
			go func() {
				time.Sleep(tornFor / 2) //nolint:forbidigo // virtual time
				r.put(t, own, whole)
			}()
			open, err := r.OpenOn(sessionID)
			rig.Check(t, err == nil && len(open) == 1 && open[0].PID == os.Getpid(), "%s: %+v, %v", what, open, err)
		})
	}
}

func TestOpenOnDoesNotGuess(t *testing.T) {
	t.Parallel()
	r := RegistryIn(t.TempDir())
	rig.Must(t, os.WriteFile(r.Dir(), []byte("a file"), 0o600))
	open, err := r.OpenOn(sessionID)
	rig.Check(t, err != nil, "a registry that cannot be read: %v; want an error", open)
}

func TestForget(t *testing.T) {
	t.Parallel()
	r := RegistryIn(t.TempDir())
	err := r.Forget(31558, 353737)
	rig.Check(t, err == nil, "without an entry: %v", err)
	r.put(t, "31558.json", entry197)
	r.put(t, "31559.json", entry197)
	rig.Must(t, r.Forget(31558, 353737))
	_, err = r.Entry(31558)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "it is remembered: %v", err)
	if left, err := os.ReadDir(r.Dir()); len(left) != 1 || err != nil {
		t.Errorf("left are %v, %v; want the other one", left, err)
	}
}

func FuzzRegistryEntry(f *testing.F) {
	f.Add([]byte(entry197))
	f.Add([]byte(entry329))
	f.Add([]byte(strings.ReplaceAll(entry197, "\n", "")))
	f.Add([]byte(strings.ReplaceAll(entry329, "\n", "")))
	f.Add([]byte(entry197[:99]))
	f.Add([]byte(`{"PID":31558,"procStart":"18446744073709551615","status":"\u001b]0;x\u0007"}`))
	f.Add([]byte(`{"pid":31558.0}`))
	r := RegistryIn(rig.MemoryDir(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		r.put(t, "31558.json", string(text))
		entry, err := r.Entry(31558)
		rig.Check(t, (err != nil || entry.PID == 31558) && (err == nil || entry == (Entry{})), "Entry = %+v, %v", entry, err)
		open, err := r.OpenOn(entry.SessionID)
		rig.Check(t, err == nil && len(open) <= 1, "OpenOn = %v, %v", open, err)
	})
}
