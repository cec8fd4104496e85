package dash

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
)

// A cut host is unreachable with its last rows, is asked again by itself, and is back as it is then.
func TestAHostComesBack(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+aliceWaits+","+bobIdle+"]", "requests --json", `[{"handle":"alice","id":"abcd1234","title":"Bash: make","text":"make","questions":[]}]`)
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	rows := f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" })
	rig.Equal(t, handles(rows), "alice@build1 bob@build1", "rows")
	d.become(because(link.Down))
	d.stream <- ""
	var since time.Time
	rows = f.until(t, func(place Place, _ []Row) bool {
		since = place.AsOf
		return place.Trouble == "unreachable: it refuses connections"
	})
	rig.Check(t, handles(rows) == "alice@build1 bob@build1" && !since.IsZero(), "%+v as of %s", rows, since)
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Handle == "alice" })
	rig.Check(t, rows[i].State == "waiting" && rows[i].Ask != nil, "what is known of alice: %+v", rows[i])

	d.become(nil, "list --json", "["+bobIdle+"]") // alice was dismissed meanwhile
	rows = f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" && place.AsOf.After(since) })
	rig.Equal(t, handles(rows), "bob@build1", "rows when it is back")
	d.become(nil, "list --json", "["+bobIdle+","+aliceBusy+"]")
	d.stream <- aliceBusy
	rows = f.until(t, func(_ Place, rows []Row) bool { return len(rows) == 2 })
	rig.Check(t, rows[0].Ask == nil && rows[1].Ask == nil, "an old request is shown: %+v", rows)
}

// A host that prints what no list is keeps its rows, and says so.
func TestAHostThatPrintsNonsense(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+bobIdle+"]")
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" })
	d.become(nil, "list --json", "Welcome to build1!")
	d.stream <- ""
	rows := f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "what it prints cannot be read" })
	rig.Equal(t, handles(rows), "bob@build1", "rows")
}

// What the stream says while all rows are read is newer than what was read.
func TestALineComesWhileAllRowsAreRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"handle":"bob","state":"busy"}`: "busy", `{"handle":"bob","dismissed":true}`: "", `{"handle":"-x","state":"busy"}`: "idle",
	} {
		rows := newFarRows("build1", Words{Pull: noPull})
		rows.begin()
		rows.take([]byte(line), noon)
		rig.Must(t, rows.replace([]byte("["+bobIdle+"]"), noon.Add(time.Second)))
		rows.end()
		got := ""
		if shown, _ := rows.shown(); len(shown) > 0 {
			got = shown[0].State
		}
		rig.Equal(t, got, want, "bob after %s", line)
		rig.Must(t, rows.replace([]byte("["+bobIdle+"]"), noon.Add(time.Minute))) // the line is not taken again
		shown, _ := rows.shown()
		rig.Check(t, len(shown) == 1 && shown[0].State == "idle", "%+v", shown)
	}
}

// Rows are true while the stream lasts. After a sleep of this machine nobody knows, until the host says something.
func TestTheAgeOfRows(t *testing.T) {
	t.Parallel()
	rows := newFarRows("build1", Words{Pull: noPull})
	rig.Must(t, rows.replace([]byte("["+bobIdle+"]"), noon))
	for _, step := range []struct {
		now, heard, asOf time.Duration
		trouble          string
		told             bool
	}{
		{10 * time.Second, 0, 0, "", false},
		{20 * time.Second, 15 * time.Second, 15 * time.Second, "", false},
		{30 * time.Second, 15 * time.Second, 15 * time.Second, "", false},
		{40 * time.Second, 15 * time.Second, 15 * time.Second, "silent", true},
		{50 * time.Second, 15 * time.Second, 15 * time.Second, "silent", true},
		{60 * time.Second, 58 * time.Second, 58 * time.Second, "", true},
		{70 * time.Second, 58 * time.Second, 58 * time.Second, "", false},
		{time.Hour, 58 * time.Second, 58 * time.Second, "silent", true},
	} {
		told := rows.stillTrue(noon.Add(step.heard), noon.Add(step.now))
		_, place := rows.shown()
		rig.Equal(t, place.AsOf.Sub(noon), step.asOf, "when they were true, at %s", step.now)
		rig.Check(t, place.Trouble == step.trouble && told == step.told, "at %s: %q, told %t", step.now, place.Trouble, told)
	}
	rows.take([]byte(bobIdle), noon.Add(2*time.Hour))
	_, place := rows.shown()
	rig.Check(t, place.AsOf.Equal(noon.Add(2*time.Hour)) && place.Trouble == "", "after a line: %+v", place)
}

// Requests are asked for in the projects of agents that wait, and those of others are forgotten.
func TestRequestsOfProjects(t *testing.T) {
	t.Parallel()
	rows := newFarRows("build1", Words{Pull: noPull})
	rig.Must(t, rows.replace([]byte(`[{"project":"/a","handle":"alice","state":"waiting"},{"project":"/b","handle":"alice","state":"busy"},{"project":"/c","handle":"cid","state":"waiting"}]`), noon))
	rig.Equal(t, strings.Join(rows.waiting(), " "), "/a /c", "projects")
	rig.Must(t, rows.asked("/a", []byte(`[{"handle":"alice","id":"abcd1234","title":"Old","questions":[]},{"handle":"alice","id":"efgh5678","title":"New","questions":[]},{"handle":"bob","id":"--yes"}]`)))
	asks := func() (all []string) {
		shown, _ := rows.shown()
		for _, r := range shown {
			if r.Ask != nil {
				all = append(all, r.Project+" "+r.name()+" "+r.Ask.ID)
			}
		}
		return all
	}
	rig.Equal(t, strings.Join(asks(), ", "), "/a alice@build1 abcd1234", "the oldest request of the one who waits")
	rig.Must(t, rows.asked("/a", []byte("[]")))
	rig.Equal(t, len(asks()), 0, "answered requests")
	rig.Check(t, rows.asked("/a", []byte("nonsense")) != nil, "nonsense is read")
}

// A stream is split into lines however it comes, and left when it has become long.
func TestLinesOfAStream(t *testing.T) {
	t.Parallel()
	var got []string
	full := 0
	l := &lines{full: func() { full++ }, take: func(line []byte, first bool) {
		if rig.Check(t, first == (len(got) == 0), "%q is the first: %t", line, first); len(line) < 10 {
			got = append(got, string(line))
		}
	}}
	for _, part := range []string{"on", "e\ntwo\n", "", "\nth", "ree", "\n"} {
		n, err := l.Write([]byte(part))
		rig.Check(t, err == nil && n == len(part), "%d, %v", n, err)
	}
	rig.Equal(t, strings.Join(got, ","), "one,two,,three", "lines")
	_, _ = l.Write(make([]byte, 2<<20))
	rig.Equal(t, full, 1, "left after a line without an end")
}
