package move

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/jobs"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/trust"
)

// The machines of this test are models: a few maps, with the rules of the steps and without files. What is tested is
// [Run], and the rules.

// model is a machine.
type model struct {
	name    string
	agents  map[agent.Handle]*resident
	notes   map[string]*modelNote
	steps   int
	killed  bool              // the present step is killed before its last change
	waiting map[string]string // package by move and digest: the conversation
}

// resident is the record of an agent.
type resident struct {
	session agent.SessionID
	move    string // that it leaves by; "": none
	to      string
	version int // changes when the agent works, or is written to
}

type modelNote struct {
	handle  agent.Handle
	session agent.SessionID
	state   moves.State
	place   string
	digest  string
	version int
	at      int // the number of the step that wrote it last
}

var errCut = errors.New("the connection was cut")

// world is all machines, and what goes wrong between them.
type world struct {
	*rand.Rand
	t        *testing.T
	machines []*model
	home     map[agent.Handle]agent.SessionID
	late     []func() // steps whose command was cut off, and which go on at their machine
	cuts     int
	jobs     *jobs.Drawer
}

// way is a machine as a move sees it: a step may be cut off before it is done, after it, or be done much later.
type way struct {
	*world
	at   *model
	calm bool
}

func (w way) Run(ctx context.Context, in io.ReadSeeker, out io.Writer, args ...string) error {
	var text []byte
	if in != nil {
		text, _ = io.ReadAll(in)
	}
	if !w.calm && w.IntN(8) == 0 {
		w.cuts++
		again := w.job(ctx, text, args)
		switch w.IntN(4) {
		case 0: // rebooted, or down
		case 1: // or killed on the way
			w.at.killed = w.IntN(2) == 0
			_ = w.at.step(io.Discard, text, args)
			w.at.killed = false
		case 2: // after which the link asks again
			_ = again(io.Discard)
			return again(out)
		default: // which the machine is asked for twice, later
			w.late = append(w.late, func() { _ = again(io.Discard) }, func() { _ = again(io.Discard) })
		}
		return errCut
	}
	return w.at.step(out, text, args)
}

// job returns a step as the link has it done: under an id, at most once, with its output for each that asks. It is asked
// for twice.
func (w way) job(ctx context.Context, text []byte, args []string) (ask func(out io.Writer) error) {
	id, asked, ran := uuid.NewString(), 0, 0
	return func(out io.Writer) error {
		job, err := w.jobs.Take(id, jobs.Request{Folder: w.at.name, Args: args, Keep: true})
		rig.Must(w.t, err)
		if finish, err := job.Begin(ctx, agent.Identity{}); err == nil {
			ran++
			streams, err := job.Streams()
			rig.Must(w.t, err)
			code := 0
			if err := w.at.step(streams.Out, text, args); err != nil {
				code = int(fail.KindOf(err))
			}
			rig.Must(w.t, streams.Close())
			rig.Must(w.t, finish(code))
		}
		state, code, err := job.State()
		rig.Must(w.t, err)
		if asked++; state != jobs.Ended || ran != 1 {
			w.t.Fatalf("step %q: state %d, ran %d times", args, state, ran)
		}
		stdout, stderr, err := job.Output()
		rig.Must(w.t, err)
		defer stdout.Close()
		defer stderr.Close()
		_, err = io.Copy(out, stdout)
		rig.Must(w.t, err)
		if asked == 2 {
			rig.Must(w.t, os.RemoveAll(job.Files()))
		}
		if code != 0 {
			return fail.Errorf(fail.Kind(code), "step %q failed", args)
		}
		return nil
	}
}

// step does one step of a move.
func (m *model) step(out io.Writer, in []byte, args []string) error {
	flag := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	answer := func(v any) error { return json.NewEncoder(out).Encode(v) }
	id, handle := flag("--id"), agent.Handle(args[min(2, len(args)-1)])
	switch {
	case args[1] == "give" && slices.Contains(args, "--look"):
		return m.look(handle, answer)
	case args[1] == "give":
		r := m.agents[handle]
		if r == nil || r.move != "" && m.notes[r.move] != nil && m.notes[r.move].state != moves.Given {
			return fail.Errorf(fail.Conflict, "it has left")
		}
		r.move, r.to = id, flag("--place")
		digest := fmt.Sprintf("%s/%d", id, r.version)
		m.notes[id] = &modelNote{handle, r.session, moves.Given, r.to, digest, r.version, 0}
		return answer(packed{handle, r.session, digest})
	case args[1] == "take" && slices.Contains(args, "--check"):
		var ask Ask
		_ = json.Unmarshal(in, &ask)
		if m.agents[ask.Record.Handle] != nil && !ask.HasLeft() {
			return fail.Errorf(fail.Conflict, "the handle is taken")
		}
		return answer(Room{Format: format, PlaceID: m.name})
	case args[1] == "take":
		var p packed
		if json.Unmarshal(in, &p) != nil || m.notes[id] != nil || m.agents[p.Handle] != nil {
			return fail.Errorf(fail.Conflict, "it has come before, or cannot come")
		}
		m.waiting[id+p.Digest] = string(p.Session)
		return answer(Taken{Digest: p.Digest})
	case args[1] == "leave":
		return m.leave(handle, id, flag("--digest"), slices.Contains(args, "--done"), answer)
	default:
		return m.arrive(handle, id, flag("--digest"), answer)
	}
}

type packed struct {
	Handle  agent.Handle
	Session agent.SessionID
	Digest  string
}

func (m *model) look(handle agent.Handle, answer func(any) error) error {
	ask := Ask{Format: format}
	ask.Record.Handle = handle
	if r := m.agents[handle]; r != nil {
		if n := m.notes[r.move]; n == nil || n.state == moves.Given {
			ask.ID, ask.PlaceID = r.move, r.to
			return answer(ask)
		}
	}
	var newest *modelNote
	for id, n := range m.notes {
		if n.handle == handle && (n.state == moves.Left || n.state == moves.Done) && (newest == nil || n.at > newest.at) {
			newest, ask.ID = n, id
		}
	}
	if newest == nil {
		return fail.Errorf(fail.NotFound, "no such agent")
	}
	ask.State, ask.PlaceID, ask.Digest = newest.state, newest.place, newest.digest
	return answer(ask)
}

func (m *model) leave(handle agent.Handle, id, digest string, done bool, answer func(any) error) error {
	n := m.notes[id]
	switch {
	case n == nil || n.state == moves.Arrived:
		return fail.Errorf(fail.NotFound, "no such move")
	case done:
		if n.state == moves.Left {
			n.state = moves.Done
		}
		return answer(struct{}{})
	case n.state == moves.Given:
		r := m.agents[handle]
		if r == nil || r.move != id {
			return fail.Errorf(fail.NotFound, "canceled")
		}
		if n.digest != digest || n.version != r.version {
			return fail.Errorf(fail.Conflict, "it has changed")
		}
		m.steps++
		n.state, n.at = moves.Left, m.steps
	}
	if m.killed {
		return errCut
	}
	if r := m.agents[handle]; r != nil && r.move == id {
		delete(m.agents, handle)
	}
	return answer(Gone{})
}

func (m *model) arrive(handle agent.Handle, id, digest string, answer func(any) error) error {
	var s Settled
	s.Record.Handle = handle
	if m.notes[id] != nil {
		if m.agents[handle] == nil {
			s.Record.Handle = "" // it has moved on
		}
		return answer(s)
	}
	session, come := m.waiting[id+digest]
	if !come || m.agents[handle] != nil {
		return fail.Errorf(fail.NotFound, "no package, or the handle is taken")
	}
	m.agents[handle] = &resident{session: agent.SessionID(session)}
	m.notes[id] = &modelNote{handle: handle, session: agent.SessionID(session), state: moves.Arrived}
	maps.DeleteFunc(m.waiting, func(of, _ string) bool { return of[:len(id)] == id })
	return answer(s)
}

// whereabouts returns at how many machines a conversation can be started, and whether it is on its way.
func (w *world) whereabouts() (startable map[agent.SessionID]int, exists map[agent.SessionID]bool) {
	startable, exists = map[agent.SessionID]int{}, map[agent.SessionID]bool{}
	for _, m := range w.machines {
		for _, r := range m.agents {
			exists[r.session] = true
			if r.move == "" {
				startable[r.session]++
			}
		}
		for id, n := range m.notes {
			if n.state != moves.Left {
				continue
			}
			i := slices.IndexFunc(w.machines, func(to *model) bool { return to.name == n.place })
			if _, waits := w.machines[i].waiting[id+n.digest]; waits {
				exists[n.session] = true
			}
		}
	}
	return startable, exists
}

// order asks for a move, and repeats the command as a person would who has seen an error.
func (w *world) order(handle agent.Handle, from, to *model, calm bool) error {
	_, err := Run(context.Background(), Order{
		Handle: handle, From: way{w, from, calm}, To: way{w, to, calm}, FromName: from.name, ToName: to.name, Command: "move",
		Spool: func() (io.ReadWriteSeeker, error) { return &spooled{}, nil },
		Tell:  func(string) {}, Note: func(string) {}, Drop: func(string, string) {},
	})
	return err
}

type spooled struct {
	bytes.Buffer
}

func (s *spooled) Seek(int64, int) (int64, error) { return 0, nil }

// A year of a team on a thousand machines: moves that are cut off at each step, done late, canceled, and repeated by
// another person to another machine. No conversation can be started at two machines, and none is lost.
func TestAYearOfMoves(t *testing.T) {
	t.Parallel()
	days, each := 37, 300
	if os.Getenv("NBS_YEAR") != "" {
		days = 365
	}
	w := newYear(t)
	handles := slices.Sorted(maps.Keys(w.home))
	for day := range days {
		for range each {
			w.event(handles[w.IntN(len(handles))])
		}
		startable, exists := w.whereabouts()
		for handle, session := range w.home {
			if startable[session] > 1 || !exists[session] {
				t.Fatalf("day %d: %s can be started at %d machines, exists: %t", day, handle, startable[session], exists[session])
			}
		}
	}
	for _, handle := range handles {
		from := w.find(handle)
		if r := from.agents[handle]; r == nil || r.move != "" {
			rig.Must(t, w.order(handle, from, from.machineOf(w, handle), true))
		}
	}
	startable, _ := w.whereabouts()
	for handle, session := range w.home {
		for _, m := range w.machines {
			r := m.agents[handle]
			rig.Check(t, r == nil || r.move == "", "in the end %s still leaves %s", handle, m.name)
		}
		rig.Check(t, startable[session] == 1, "in the end %s can be started at %d machines", handle, startable[session])
	}
	rig.Check(t, w.cuts > days*each/4, "only %d steps were cut off", w.cuts)
}

// newYear returns a thousand machines with three agents each.
func newYear(t *testing.T) *world {
	t.Helper()
	w := &world{Rand: rand.New(rand.NewPCG(38, 1)), t: t, home: map[agent.Handle]agent.SessionID{}, jobs: jobs.Of(trust.Home(rig.MemoryDir(t)))}
	for i := range 1000 {
		m := &model{name: fmt.Sprint("build", i), agents: map[agent.Handle]*resident{}, notes: map[string]*modelNote{}, waiting: map[string]string{}}
		w.machines = append(w.machines, m)
		for n := range 3 {
			handle := agent.Handle(fmt.Sprintf("a%d-%d", i, n))
			w.home[handle] = agent.NewSessionID()
			m.agents[handle] = &resident{session: w.home[handle]}
		}
	}
	return w
}

// find returns the machine that an agent is at, or has left.
func (w *world) find(handle agent.Handle) *model {
	is := func(at func(*model) bool) *model {
		if i := slices.IndexFunc(w.machines, at); i >= 0 {
			return w.machines[i]
		}
		return nil
	}
	at := cmp.Or(is(func(m *model) bool { return m.agents[handle] != nil }), is(func(m *model) bool { return m.machineOf(w, handle) != nil }))
	if at == nil {
		w.t.Fatalf("%s is lost", handle)
	}
	return at
}

// event is something that happens to an agent.
func (w *world) event(handle agent.Handle) {
	from := w.find(handle)
	switch r := from.agents[handle]; {
	case w.IntN(10) == 0 && len(w.late) > 0:
		i := w.IntN(len(w.late))
		do := w.late[i]
		w.late = slices.Delete(w.late, i, i+1)
		do()
	case w.IntN(10) == 0 && r != nil:
		r.version++ // a message
	case w.IntN(20) == 0 && r != nil && r.move != "" && from.notes[r.move] != nil && from.notes[r.move].state == moves.Given:
		r.move, r.to = "", "" // canceled
	default:
		if to := w.machines[w.IntN(len(w.machines))]; to != from {
			_ = w.order(handle, from, to, false) // what failed is completed by a later order, or never
		}
	}
}

// machineOf returns the machine to which an agent is on its way from this one; nil if it is not.
func (m *model) machineOf(w *world, handle agent.Handle) *model {
	name, id, digest := "", "", ""
	if r := m.agents[handle]; r != nil {
		name = r.to
	}
	for of, n := range m.notes {
		if n.handle == handle && n.state == moves.Left {
			i := slices.IndexFunc(w.machines, func(to *model) bool { return to.name == n.place })
			if _, waits := w.machines[i].waiting[of+n.digest]; waits {
				name, id, digest = n.place, of, n.digest
			}
		}
	}
	if name == "" || id+digest == "" && m.agents[handle] == nil {
		return nil
	}
	return w.machines[slices.IndexFunc(w.machines, func(to *model) bool { return to.name == name })]
}
