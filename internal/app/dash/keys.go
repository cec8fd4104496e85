package dash

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Deed is something to be done outside of the model.
type Deed struct {
	Kind    DeedKind
	Who     Who
	Args    []string // of Visit and Run: a command line of this program
	Verb    string   // of Run: shown while it runs
	Preview Preview  // of Peek
}

// DeedKind is what kind of deed it is.
type DeedKind int

// The deeds.
const (
	Quit  DeedKind = iota
	Visit          // give the terminal to a command line, and come back
	Peek           // show something of the agent below the rows
	Run            // run a command line beside the screen
	Again          // ask the hosts again that do not answer
)

// Key takes a key by its name: "j", "enter", "ctrl+c". It returns what is to be done.
func (m Model) Key(key string) (Model, []Deed) {
	m.touched = true
	if key == "ctrl+c" {
		return m, []Deed{{Kind: Quit}}
	}
	switch m.mode {
	case helping:
		m.mode = browsing
		return m, nil
	case filtering, sending:
		return m.typed(key)
	case dismissing, approving:
		was := m.mode
		m.mode = browsing
		switch {
		case key != "y":
			return m, nil
		case was == approving:
			return m.runAbout("approve", "approve", string(m.about.Handle), m.input)
		}
		return m.runAbout("dismiss", "dismiss", string(m.about.Handle))
	case browsing:
	}
	m.said, m.failed = "", false
	return m.browse(key)
}

// browse takes a key that moves, or begins something.
func (m Model) browse(key string) (Model, []Deed) {
	switch key {
	case "q":
		return m, []Deed{{Kind: Quit}}
	case "?":
		m.mode = helping
		return m, nil
	case "/":
		m.mode, m.input = filtering, m.filter
		return m, nil
	case "esc":
		m.filter, m.preview = "", NoPreview
		return m.refilter(), nil
	case "tab":
		return m.moved(m.nextNeed())
	case "t":
		return m, []Deed{{Kind: Again}}
	case "1", "2", "3", "4":
		return m.sorted(sorting(key[0] - '1')), nil
	}
	if to, moves := m.target(key); moves {
		return m.moved(m.selectAt(to))
	}
	if r := m.Selected(); r != nil {
		return m.act(r, key)
	}
	return m, nil
}

// target returns where a key moves the selection to.
func (m *Model) target(key string) (to int, moves bool) {
	page := max(1, m.tableHeight()-1)
	switch key {
	case "j", "down":
		return m.at + 1, true
	case "k", "up":
		return m.at - 1, true
	case "g", "home":
		return 0, true
	case "G", "end":
		return len(m.shown) - 1, true
	case "pgdown", "ctrl+d":
		return m.at + page, true
	case "pgup", "ctrl+u":
		return m.at - page, true
	}
	return 0, false
}

// moved has the preview follow the selection.
func (m Model) moved(next Model) (Model, []Deed) {
	before, _ := m.Previewed()
	if who, preview := next.Previewed(); preview != NoPreview && who != before {
		return next, []Deed{{Kind: Peek, Who: who, Preview: preview}}
	}
	return next, nil
}

// Click takes a click on a line of the screen.
func (m Model) Click(y int) (Model, []Deed) {
	const above = 2 // the header, and the names of the columns
	line := m.firstLine() + y - above
	m.touched = true
	if m.mode != browsing || y < above || y >= above+m.tableHeight() || line >= len(m.lines) || m.lines[line].at < 0 {
		return m, nil
	}
	return m.moved(m.selectAt(m.lines[line].at))
}

// Wheel takes a turn of the wheel, by a number of rows.
func (m Model) Wheel(by int) (Model, []Deed) {
	m.touched = true
	if m.mode != browsing {
		return m, nil
	}
	return m.moved(m.selectAt(m.at + by))
}

// nextNeed selects the next agent that needs a person, and after the last one the first.
func (m Model) nextNeed() Model {
	for i := 1; i <= len(m.shown); i++ {
		at := (m.at + i) % len(m.shown)
		if m.rowAt(at).Need != nil {
			return m.selectAt(at)
		}
	}
	m.said = "nobody needs you"
	return m
}

// reading is how long it takes to see that something else is on the screen.
const reading = time.Second

// act does what a key means for the selected agent.
func (m Model) act(r *Row, key string) (Model, []Deed) {
	handle := string(r.Handle)
	if m.Now.Sub(m.movedAt) < reading && slices.Contains([]string{"enter", "r", "R", "x", "i"}, key) {
		m.said = r.name() + " has just been selected here: press the key again if you mean it"
		return m, nil
	}
	switch key {
	case "enter":
		return m, []Deed{{Kind: Visit, Who: r.Who, Args: []string{"attach", handle}}}
	case "D":
		if r.Host != "" {
			m.said = "D shows what is on this machine; of a host: nbs-worker changes " + r.name() + " --patch | less"
			return m, nil
		}
		return m, []Deed{{Kind: Visit, Who: r.Who, Args: []string{"changes", handle, "--patch", "--stay"}}}
	case "space":
		m.preview, m.text = (m.preview+1)%previews, ""
		if m.preview != NoPreview {
			return m, []Deed{{Kind: Peek, Who: r.Who, Preview: m.preview}}
		}
		return m, nil
	case "s":
		m.mode, m.input, m.about = sending, "", r.Who
		return m, nil
	case "d":
		m.mode, m.about = dismissing, r.Who
		return m, nil
	case "r":
		return m.run(r, "resume", "resume", handle)
	case "R":
		return m.run(r, "recover", "recover", handle)
	case "x":
		return m.run(r, "stop", "stop", handle)
	case "i":
		return m.run(r, "interrupt", "interrupt", handle)
	case "y", "N":
		return m.decide(r, key == "y")
	}
	return m, nil
}

// decide answers the request that the screen shows, and no other. One that has just come was not read yet.
func (m Model) decide(r *Row, allow bool) (Model, []Deed) {
	switch {
	case r.Ask == nil:
		m.said = "nothing is asked here that a key answers; enter goes to the terminal"
		return m, nil
	case m.preview != NoPreview:
		m.said = "close the preview first (esc): then the request is shown"
		return m, nil
	case m.Now.Sub(m.askedAt) < reading:
		m.said = "the request has just come: read it, then press the key again"
		return m, nil
	case allow && !r.Ask.Plain:
		m.said = "it asks a question: nbs-worker answer " + r.name() + " " + r.Ask.ID + " CHOICE"
		return m, nil
	case allow && !m.showsWhole(r.Ask):
		m.mode, m.about, m.input = approving, r.Who, r.Ask.ID
		return m, nil
	case allow:
		return m.run(r, "approve", "approve", string(r.Handle), r.Ask.ID)
	}
	return m.run(r, "deny", "deny", string(r.Handle), r.Ask.ID)
}

// run has a command line run, unless another one runs for the agent.
func (m Model) run(r *Row, verb string, args ...string) (Model, []Deed) {
	if busy := m.running[r.Who]; busy != "" {
		m.said, m.failed = r.name()+": "+busy+" is not over yet", true
		return m, nil
	}
	return m.Begun(r.Who, verb), []Deed{{Kind: Run, Who: r.Who, Verb: verb, Args: args}}
}

// runAbout is run for the agent that the keys before were for. If it has gone, no other one takes its place.
func (m Model) runAbout(verb string, args ...string) (Model, []Deed) {
	for i := range m.sight.Rows {
		if r := &m.sight.Rows[i]; r.Who == m.about {
			return m.run(r, verb, args...)
		}
	}
	m.said, m.failed = m.about.name()+" is gone; nothing was done", true
	return m, nil
}

// typed takes a key of a line that is typed.
func (m Model) typed(key string) (Model, []Deed) {
	switch key {
	case "esc":
		m.mode = browsing
		return m, nil
	case "enter":
		return m.entered()
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.input)
		m.input = m.input[:len(m.input)-size]
	case "ctrl+u":
		m.input = ""
	case "space":
		m.input += " "
	default:
		if utf8.RuneCountInString(key) == 1 {
			m.input += key
		}
	}
	if m.mode == filtering {
		m.filter = m.input
		return m.refilter(), nil
	}
	return m, nil
}

// Paste takes a text that is pasted into a line.
func (m Model) Paste(text string) Model {
	if m.mode == filtering || m.mode == sending {
		m.input += text
	}
	if m.mode == filtering {
		m.filter = m.input
		return m.refilter()
	}
	return m
}

// entered takes the line.
func (m Model) entered() (Model, []Deed) {
	was := m.mode
	m.mode = browsing
	if was == sending && m.input != "" {
		return m.runAbout("send", "send", "--queue", string(m.about.Handle), "--", m.input)
	}
	return m, nil
}
