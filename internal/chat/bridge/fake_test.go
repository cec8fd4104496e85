package bridge_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// house is conversations, deliveries and a team in one file of lines: "accept 1 KEY TEXT", "telling 1", "told 1".
type house struct {
	folder string // of the project
	path   string
	at     func(step string)                                                   // called before and after what becomes durable
	reply  func(ctx context.Context, text string, told Answer) (Answer, error) // nil: echoes
	refuse func(text string) error
	hear   func(id string, heard func(Progress)) (leave func())
	mu     sync.Mutex
	resets int
	taken  []Incoming
	edits  []string
	edit   Edit // what becomes of one

	interrupting func(isBehind func(string) bool) (Interruption, error) // in place of interrupt
	interrupt    func(id, why string) (Interruption, error)             // nil: nothing runs

	reading sync.Mutex
	read    int        // bytes of the file
	known   [][]string // its lines
}

func (h *house) lines() [][]string {
	h.reading.Lock()
	defer h.reading.Unlock()
	data, _ := os.ReadFile(h.path) // there is none at first
	for line := range strings.Lines(string(data[h.read:])) {
		h.known = append(h.known, strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4))
	}
	h.read = len(data)
	return slices.Clone(h.known)
}

func (h *house) has(step, id string) bool {
	return slices.ContainsFunc(h.lines(), func(l []string) bool { return l[0] == step && l[1] == id })
}

// note adds a line; it reports whether it was there.
func (h *house) note(step, id, rest string) (before bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.has(step, id) {
		return true, nil
	}
	return false, h.write(step, id, rest)
}

// write adds a line.
func (h *house) write(step, id, rest string) error {
	h.step("before " + step)
	err := h.add(strings.TrimSpace(step + " " + id + " " + rest))
	h.step("after " + step)
	return err
}

func (h *house) add(line string) error {
	file, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintln(file, line)
	return err
}

// all returns what was accepted, in order.
func (h *house) all() []Incoming {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.taken)
}

func (h *house) step(name string) {
	if h.at != nil {
		h.at(name)
	}
}

func (h *house) Accept(_ context.Context, m Incoming) error {
	if h.refuse != nil {
		if err := h.refuse(m.Text); err != nil {
			return err
		}
	}
	before, err := h.note("accept", m.ID, m.Key+" "+m.Text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !before {
		h.taken = append(h.taken, m)
	}
	return err
}

func (h *house) Ahead(_ context.Context, key, id string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, l := range h.lines() {
		if l[0] != "accept" || l[2] != key {
			continue
		}
		if l[1] == id {
			break
		}
		if !h.has("telling", l[1]) && !h.has("told", l[1]) { // it is answered before it is told
			n++
		}
	}
	return n, nil
}

func (h *house) Answer(ctx context.Context, _, id string, told Answer) (Answer, error) {
	h.mu.Lock()
	lines, reply := h.lines(), h.reply
	h.mu.Unlock()
	for _, l := range lines {
		if l[0] == "accept" && l[1] == id {
			if reply != nil {
				return reply(ctx, l[3], told)
			}
			return Answer{Text: "You said: " + l[3], Continuity: "resumed"}, nil
		}
	}
	return Answer{}, fail.Errorf(fail.NotFound, "there is no message %s", id)
}

func (h *house) Reset(context.Context, string, string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resets++
	return fmt.Sprintf("old-%d", h.resets), nil
}

func (h *house) Interrupt(_ context.Context, _, id, why string, isBehind func(string) bool) (Interruption, error) {
	if h.interrupting != nil {
		return h.interrupting(isBehind)
	}
	if h.interrupt == nil {
		return Interruption{}, nil
	}
	return h.interrupt(id, why)
}

func (h *house) File(path string) (*os.File, error) {
	f, err := os.Open(filepath.Join(h.folder, path))
	if err != nil {
		return nil, fail.Errorf(fail.NotFound, "there is no file %s in the project", path)
	}
	return f, nil
}

func (h *house) Status(_ context.Context, key string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return key + ": " + human.Count(h.resets, "reset"), nil
}

func (h *house) Undelivered(context.Context) ([]Unfinished, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var open []Unfinished
	for _, l := range h.lines() {
		switch {
		case h.has("told", l[1]):
		case l[0] == "accept":
			open = append(open, Unfinished{Key: l[2], ID: l[1]})
		case l[0] == "command" && !h.has("accept", l[1]):
			open = append(open, Unfinished{Key: l[2], ID: l[1], Noted: &Incoming{Key: l[2], ID: l[1], Text: l[3]}})
		}
	}
	return open, nil
}

func (h *house) NoteWaiting(_ context.Context, m Incoming) (bool, error) {
	_, err := h.note("command", m.ID, m.Key+" "+m.Text)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.has("told", m.ID), err
}

// Accepted reads the lines "accept" and "parts FIRST ID,ID".
func (h *house) Accepted(_ context.Context, m Incoming) ([]string, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := m.ID
	parts := []string{id}
	for _, l := range h.lines() {
		if all := strings.Split(l[len(l)-1], ","); l[0] == "parts" && slices.Contains(all, id) {
			parts = all // the last one counts
		}
	}
	if h.has("accept", parts[0]) {
		return parts, false, nil
	}
	return nil, false, nil
}

func (h *house) NoteParts(_ context.Context, _ string, ids []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add("parts " + ids[0] + " " + strings.Join(ids, ","))
}

func (h *house) Moves(context.Context) ([]Move, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var moves []Move
	for _, l := range h.lines() {
		var m Move
		if n, _ := fmt.Sscan(strings.Join(l[1:], " "), &m.From, &m.To); l[0] == "move" && n == 2 {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

func (h *house) NoteMove(_ context.Context, from, to string) (Move, error) {
	_, err := h.note("move", from, to)
	return Move{From: from, To: to}, err
}

// Keep keeps a file beside the lines.
func (h *house) Keep(_ context.Context, _, id string, n int, f File, content []byte) (File, string, error) {
	f.Kept, f.Size = fmt.Sprintf("%s.%d", strings.TrimPrefix(id, "telegram:"), n), len(content)
	path := h.path + "." + f.Kept
	return f, path, os.WriteFile(path, content, 0o600)
}

func (h *house) Edit(_ context.Context, m Incoming, whole bool) (Edit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.edits = append(h.edits, fmt.Sprintf("%s: %s (%v)", m.Messages[0], m.Text, whole))
	return h.edit, nil
}

func (h *house) NoteTelling(_ context.Context, _, id string) (bool, error) {
	return h.note("telling", id, "")
}

func (h *house) NoteReplying(_ context.Context, _, id string) (again, over bool, err error) {
	again, err = h.note("replying", id, "")
	h.mu.Lock()
	defer h.mu.Unlock()
	return again, h.has("told", id), err
}

// Hear makes known what the test says.
func (h *house) Hear(_, id string, heard func(Progress)) (leave func()) {
	if h.hear == nil {
		return func() {}
	}
	return h.hear(id, heard)
}

func (h *house) Shown(_ context.Context, _, id string) (s Shown, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lines() {
		if l[0] == "shown" && l[1] == id {
			_, err = fmt.Sscan(l[2]+" "+l[3], &s.Message, &s.Parts, &s.Chat)
			s.Message = strings.TrimPrefix(s.Message, "none")
		}
	}
	return s, err
}

func (h *house) NoteShown(_ context.Context, _, id string, s Shown) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.write("shown", id, fmt.Sprintf("%s %d %s", cmp.Or(s.Message, "none"), s.Parts, cmp.Or(s.Chat, "none")))
}

func (h *house) NoteDelivered(_ context.Context, _, id, untold string) error {
	_, err := h.note("told", id, untold)
	return err
}

func (h *house) Agents(context.Context) (string, error) { return "theologian: idle", nil }

func (h *house) Send(_ context.Context, handle, id, text string) (string, error) {
	return fmt.Sprintf("sent to %s as %s: %s", handle, id, text), nil
}

func (h *house) Resume(_ context.Context, handle string) (string, error) {
	return "", fail.Errorf(fail.NotFound, "resume %s: no such agent", handle).Hint("nbs-worker list")
}
