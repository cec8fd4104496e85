package dash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

// distant is a host of the tests. What it is asked while it is down fails; a test sends the lines of its stream.
type distant struct {
	stream chan string // "": the connection is cut

	mu     sync.Mutex
	down   error
	prints map[string]string // by the command line
	asked  []string
}

func newDistant() *distant {
	return &distant{stream: make(chan string), prints: map[string]string{"list --json": "[]", "requests --json": "[]"}}
}

func (d *distant) Close() {}

func (d *distant) Heard() time.Time { return time.Now() }

// Do does what the host has a print for.
func (d *distant) Do(ctx context.Context, args ...string) (said string, code int, err error) {
	var out, errOut strings.Builder
	code, err = d.Run(ctx, &out, &errOut, args...)
	return out.String() + errOut.String(), code, err
}

func (d *distant) Run(ctx context.Context, out, errOut io.Writer, args ...string) (code int, err error) {
	line := strings.Join(args, " ")
	d.mu.Lock()
	d.asked = append(d.asked, line)
	text, is := d.prints[line]
	err = d.down
	d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if line != "list --json --watch" {
		if !is {
			fmt.Fprintln(errOut, `{"error":{"kind":"not found","message":"`+line+`: no such agent"}}`)
			return int(fail.NotFound), nil
		}
		fmt.Fprint(out, text)
		return 0, nil
	}
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case line := <-d.stream:
			if line == "" {
				return 0, because(link.Cut)
			}
			fmt.Fprintln(out, line)
		}
	}
}

func because(reason link.Reason) error { return &link.Unreachable{Reason: reason} }

// become sets what the host prints, and whether it is down.
func (d *distant) become(down error, prints ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = down
	for i := 0; i < len(prints); i += 2 {
		d.prints[prints[i]] = prints[i+1]
	}
}

// dashboard shows a host by its name build1, with this state folder.
func dashboard(t *testing.T, d *distant, home string) *Fleet {
	t.Helper()
	team, err := Follow(nil, agent.DefaultBands, Words{})
	rig.Must(t, err)
	f := FollowHosts(t.Context(), team, []Host{{
		Name: "build1", Far: d, Views: views.Of(trust.Home(home), "build1", ""), Words: Words{
			Pull:   noPull,
			Limits: func(l *agent.Limits, _ time.Time) string { return fmt.Sprintf("5h: %d%%", l.FiveHour.UsedPercent) },
		},
	}})
	return f
}

// until looks at each change until the dashboard shows something.
func (f *Fleet) until(t *testing.T, is func(place Place, rows []Row) bool) []Row {
	t.Helper()
	for {
		sight, err := f.Look(t.Context())
		rig.Must(t, err)
		if is(sight.Places[0], sight.Rows) {
			return sight.Rows
		}
		rig.Must(t, f.Await(t.Context()))
	}
}

func noPull(*agent.PullRequest) string { return "" }

func handles(rows []Row) string {
	var all []string
	for i := range rows {
		all = append(all, rows[i].name())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

const (
	aliceBusy  = `{"handle":"alice","state":"busy","state_age_ms":60000,"model":"claude-opus-5","context":{"left_percent":61,"band":"healthy"},"cost":{"usd":1.5}}`
	aliceWaits = `{"handle":"alice","state":"waiting","needs":{"reason":"waits","since":"2026-11-27T12:00:00Z"},"what":{"kind":"question","text":"Bash"}}`
	bobIdle    = `{"handle":"bob","state":"idle"}`
)

// Rows come with the stream, and what a waiting agent asks with its request.
func TestRowsOfAHost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+aliceBusy+","+bobIdle+`,{"handle":"-x"},{}]`,
		"requests --json", `[{"handle":"alice","id":"abcd1234","title":"Bash: rm -rf build","text":"rm -rf build\u001b[2J","questions":[]}]`)
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	rows := f.until(t, func(place Place, rows []Row) bool { return place.Trouble == "" && len(rows) > 0 })
	rig.Equal(t, handles(rows), "alice@build1 bob@build1", "rows")
	for _, r := range rows {
		rig.Check(t, r.Handle == "bob" || r.State == "busy" && r.Left == 61 && r.Cost == 1.5 && r.Model == "opus-5" && time.Since(r.Since) >= time.Minute, "%+v", r)
	}
	d.become(nil, "list --json", "["+aliceWaits+","+bobIdle+"]") // it is read again when the stream has begun
	d.stream <- aliceWaits
	rows = f.until(t, func(_ Place, rows []Row) bool {
		return slices.ContainsFunc(rows, func(r Row) bool { return r.Ask != nil })
	})
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Ask != nil })
	rig.Check(t, rows[i].Ask.ID == "abcd1234" && rows[i].Ask.Plain && rows[i].What == "Bash: rm -rf build" && !strings.Contains(rows[i].Ask.Body, "\x1b"), "%+v", rows[i].Ask)
	d.become(nil, "list --json", "["+bobIdle+"]")
	d.stream <- `{"handle":"alice","dismissed":true}`
	f.until(t, func(_ Place, rows []Row) bool { return handles(rows) == "bob@build1" })
}

// A host that is lost keeps its rows. It is unreachable, and not dead; it is back when it answers.
func TestAHostThatIsLost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+aliceBusy+"]")
	home := t.TempDir()
	f := dashboard(t, d, home)
	f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" })
	d.become(because(link.Refused))
	d.stream <- ""
	rows := f.until(t, func(place Place, _ []Row) bool {
		return place.Trouble == "unreachable: it does not let you in (t asks again)" && !place.AsOf.IsZero()
	})
	rig.Check(t, handles(rows) == "alice@build1" && rows[0].State == "busy", "%+v", rows)
	f.Close()

	f = dashboard(t, d, home) // the next day
	defer f.Close()
	rows = f.until(t, func(place Place, _ []Row) bool { return strings.HasPrefix(place.Trouble, "unreachable: ") })
	rig.Equal(t, handles(rows), "alice@build1", "rows of the last time")
	d.become(nil, "list --json", "["+bobIdle+"]")
	f.Again()
	f.until(t, func(place Place, rows []Row) bool { return place.Trouble == "" && handles(rows) == "bob@build1" })
}

// A host that answers without a project says so.
func TestAHostWithoutAProject(t *testing.T) {
	t.Parallel()
	d := newDistant()
	delete(d.prints, "list --json")
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	f.until(t, func(place Place, _ []Row) bool {
		return place.Trouble == "list --json: no such agent" && place.AsOf.IsZero()
	})
}

func TestWhoTriesAHostAgain(t *testing.T) {
	t.Parallel()
	for reason, person := range map[link.Reason]bool{
		link.Cut: false, link.TimedOut: false, link.Down: false, link.Unknown: false, link.HostKey: true, link.Refused: true, link.NoProgram: true,
	} {
		rig.Equal(t, byHand(because(reason)), person, "after %d a person", reason)
	}
	rig.Check(t, byHand(fail.Errorf(fail.Unfit, "another protocol")) && !byHand(errors.New("no project")), "other errors")
	pause, all := time.Duration(0), time.Duration(0)
	for range 10 {
		pause = longer(pause)
		all += pause
	}
	rig.Check(t, pause == time.Minute && all > 4*time.Minute, "the pauses grow to %s, %s in all", pause, all)
}

// A preview of an agent at a host is a command there, which counts as a look: it is not run for a user who is away.
func TestPreviewsOfAHost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "screen alice", "> hello\n", "logs alice --json --last=20", `{"who":"you","text":"Hi."}`+"\n"+`{"who":"agent","text":"Hello."}`+"\n")
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	alice := Who{Handle: "alice", Host: "build1"}
	text, err := f.Screen(t.Context(), alice, true)
	rig.Check(t, err == nil && text == "> hello", "%q, %v", text, err)
	d.become(nil, "screen alice", "> secret\n")
	text, err = f.Screen(t.Context(), alice, false)
	rig.Check(t, err == nil && text == "> hello", "%q, %v", text, err)
	text, err = f.Conversation(t.Context(), alice, true)
	rig.Check(t, err == nil && text == "you: Hi.\nagent: Hello.", "%q, %v", text, err)
	_, err = f.Screen(t.Context(), Who{Handle: "bob", Host: "build1"}, true)
	rig.Check(t, err != nil && strings.Contains(err.Error(), "no such agent"), "%v", err)
}
