package dash

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/child"
	"nbs-worker/internal/team/attention"
)

// Source is where rows come from.
type Source interface {
	// Look returns the agents as they are.
	Look(ctx context.Context) (Sight, error)
	// Await waits until an agent may have changed since the last look. Errors: that of the context; Failed.
	Await(ctx context.Context) error
	// Screen returns the screen of an agent, in its colours. If the user is there, it notes the look.
	Screen(ctx context.Context, who Who, isThere bool) (string, error)
	// Conversation returns what was said last in an agent's conversation. If the user is there, it notes the look.
	Conversation(ctx context.Context, who Who, isThere bool) (string, error)
	// Again asks the hosts that do not answer, without waiting for the time at which they are asked next.
	Again()
	// Select says which agent of a host is selected, if the screen has room for its events; zero for none.
	Select(who Who)
	// Do runs a verb at the host of an agent. said is what it prints.
	Do(ctx context.Context, who Who, args ...string) (said string, code int, err error)
	// Measure returns what the running agents of the last look use of the machine.
	Measure() map[Who]Usage
}

// Sight is what a look shows.
type Sight struct {
	Rows    []Row
	Places  []Place // hosts
	Limits  string  // of the account, in words
	Journal []event // the last ones
	Trouble string  // why the agents of a project are not among the rows
}

// Options are how the dashboard is shown.
type Options struct {
	Program string    // this program, which the verbs run
	Global  []string  // its flags for each verb, but --root
	Out     io.Writer // the terminal
	Color   bool
	Grouped bool // by project
	Bell    bool // ring when an agent begins to need a person
}

// Show shows the dashboard until its user leaves, or the context ends. Errors: those of the source; Failed when the
// terminal cannot be used.
func Show(ctx context.Context, source Source, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // or the terminal would stay as it is
	defer stop()
	s := &shell{ctx: ctx, source: source, Options: o, model: Model{Color: o.Color, Grouped: o.Grouped, Now: time.Now()}}
	const framesPerSecond, pushTitle, popTitle = 10, "\x1b[22;0t", "\x1b[23;0t"
	fmt.Fprint(o.Out, pushTitle)
	defer fmt.Fprint(o.Out, popTitle)
	_, err := tea.NewProgram(s, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)).Run()
	switch {
	case ctx.Err() != nil: // a look that it ended may have reported that first
		return fail.Errorf(fail.Interrupted, "it was ended by a signal")
	case s.err != nil:
		return s.err
	case err == nil:
		return nil
	}
	return fail.Errorf(fail.Failed, "the terminal: %w", err)
}

// shell connects the model with the terminal and the source.
type shell struct {
	Options

	ctx       context.Context //nolint:containedctx // bubbletea's commands get none
	source    Source
	model     Model
	touched   time.Time       // when the user last pressed a key, or used the mouse
	measuring bool            // a measurement is due
	following bool            // another look at the shown screen is due
	peeks     map[peeked]bool // that are being read; true: once more after that
	err       error           // of the source
}

// What reaches the shell besides keys.
type (
	looked struct {
		Sight

		err error
	}
	changed struct{ err error }
	shown   struct {
		peeked

		text string
	}
	used  map[Who]Usage
	ended struct {
		who    Who
		said   string
		failed bool
	}
	cameBack struct{ err error }
	passed   struct{} // some time
	outdated struct{} // the screen that is shown
)

// Init implements [tea.Model].
func (s *shell) Init() tea.Cmd { return tea.Batch(s.look, passing()) }

// look looks at the agents.
func (s *shell) look() tea.Msg {
	sight, err := s.source.Look(s.ctx)
	return looked{sight, err}
}

// await waits for a change.
func (s *shell) await() tea.Msg { return changed{s.source.Await(s.ctx)} }

func (s *shell) measure() tea.Msg { return used(s.source.Measure()) }

// passing lets the ages that are shown grow.
func passing() tea.Cmd { return later(20*time.Second, passed{}) }

func later(pause time.Duration, message tea.Msg) tea.Cmd {
	return tea.Tick(pause, func(time.Time) tea.Msg { return message })
}

// Update implements [tea.Model].
func (s *shell) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	s.model.Now = time.Now()
	defer func() { s.source.Select(s.model.Followed()) }()
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		s.model.Width, s.model.Height = m.Width, m.Height
		return s, s.measureSoon(0)
	case tea.KeyPressMsg:
		key := m.String()
		if m.Text != "" && m.Text != " " {
			key = m.Text
		}
		return s, tea.Batch(s.touch(), s.do(s.model.Key(key)))
	case tea.MouseClickMsg:
		return s, tea.Batch(s.touch(), s.do(s.model.Click(m.Y)))
	case tea.MouseWheelMsg:
		by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}
		return s, tea.Batch(s.touch(), s.do(s.model.Wheel(by[m.Button])))
	case tea.PasteMsg:
		s.model = s.model.Paste(m.Content)
	default:
		return s, s.heard(message)
	}
	return s, nil
}

// heard takes what the shell's own commands say.
func (s *shell) heard(message tea.Msg) tea.Cmd {
	switch m := message.(type) {
	case looked:
		return s.took(m)
	case changed:
		if s.err = m.err; s.err != nil {
			return tea.Quit
		}
		return s.look
	case shown:
		again := s.peeks[m.peeked]
		delete(s.peeks, m.peeked)
		s.model = s.model.Show(m.who, m.preview, m.text)
		if who, preview := s.model.Previewed(); again && m.peeked == (peeked{who, preview}) {
			return s.peek(who, preview)
		}
		return s.follow()
	case outdated:
		s.following = false
		if who, preview := s.model.Previewed(); preview == ScreenPreview {
			return s.peek(who, preview)
		}
	case used:
		s.model, s.measuring = s.model.Use(m), false
		const often = 10 * time.Second
		return s.measureSoon(often)
	case ended:
		s.model = s.model.Ended(m.who, m.said, m.failed)
	case cameBack: // a change of the agent, or of when it was looked at, is a sign
		if m.err != nil {
			s.model = s.model.Ended(Who{}, m.err.Error(), true)
		}
	case passed:
		return passing()
	}
	return nil
}

// measureSoon measures what the agents use after a pause, while the screen shows it.
func (s *shell) measureSoon(pause time.Duration) tea.Cmd {
	if s.measuring || !s.model.ShowsUsage() || s.model.Selected() == nil {
		return nil
	}
	s.measuring = true
	return tea.Tick(pause, func(time.Time) tea.Msg { return s.measure() })
}

// follow looks again soon at the screen of an agent that works: what it draws is no sign.
func (s *shell) follow() tea.Cmd {
	r := s.model.Selected()
	if _, preview := s.model.Previewed(); s.following || preview != ScreenPreview || r.State != string(agent.Busy) {
		return nil
	}
	s.following = true
	pause := 2 * time.Second
	if r.Job != "" { // each look is a step of its job
		pause *= 5
	}
	return later(pause, outdated{})
}

// took takes a look, and waits for the next change.
func (s *shell) took(m looked) tea.Cmd {
	if m.err != nil {
		if s.ctx.Err() == nil {
			s.err = m.err
		}
		return tea.Quit
	}
	s.model = s.model.Look(m.Sight)
	cmds := []tea.Cmd{s.await, s.measureSoon(0)}
	if who, preview := s.model.Previewed(); preview != NoPreview {
		cmds = append(cmds, s.peek(who, preview))
	}
	if s.Bell && s.model.Alarms() {
		cmds = append(cmds, tea.Raw("\a"))
	}
	return tea.Batch(cmds...)
}

// do does what a key asks for.
func (s *shell) do(model Model, deeds []Deed) tea.Cmd {
	s.model = model
	var cmds []tea.Cmd
	for _, deed := range deeds {
		switch deed.Kind {
		case Quit:
			cmds = append(cmds, tea.Quit)
		case Peek:
			cmds = append(cmds, s.peek(deed.Who, deed.Preview))
		case Visit:
			line := s.line(deed.Who, deed.Args...)
			cmds = append(cmds, tea.Exec(child.InForeground(s.Program, line...), func(err error) tea.Msg { return cameBack{err} }))
		case Again:
			s.source.Again()
		case Run:
			cmds = append(cmds, s.run(deed))
		}
	}
	return tea.Batch(cmds...)
}

// line returns the arguments of a verb in the project of an agent.
func (s *shell) line(who Who, args ...string) []string {
	var where []string
	if who.Host != "" {
		where = append(where, "--host="+who.Host)
	} else {
		where = append(where, s.Global...)
	}
	return slices.Concat(args[:1], where, who.there(args)[1:])
}

// isThere reports whether the user sits at the screen. A preview that is open while they are away shows them nothing.
func (s *shell) isThere() bool { return s.model.Now.Sub(s.touched) <= attention.Stays }

// touch notes that the user is there. What was previewed while they were away is looked at now.
func (s *shell) touch() tea.Cmd {
	wasThere := s.isThere()
	s.touched = s.model.Now
	if who, preview := s.model.Previewed(); preview != NoPreview && !wasThere {
		return s.peek(who, preview)
	}
	return nil
}

// peek reads a preview. While it is being read, as for long from a node that does not answer, it is not read once more.
func (s *shell) peek(who Who, preview Preview) tea.Cmd {
	what := peeked{who, preview}
	if _, reads := s.peeks[what]; reads {
		s.peeks[what] = true
		return nil
	}
	if s.peeks == nil {
		s.peeks = map[peeked]bool{}
	}
	s.peeks[what] = false
	read, isThere := s.source.Screen, s.isThere()
	if preview == ConversationPreview {
		read = s.source.Conversation
	}
	return func() tea.Msg {
		text, err := read(s.ctx, who, isThere)
		if err != nil {
			text = err.Error()
		}
		return shown{what, text}
	}
}

// verb runs a verb to its end: here in a process of its own, at a host over its connection.
func (s *shell) verb(deed Deed) (said string, code int, err error) {
	if deed.Who.Host != "" {
		return s.source.Do(s.ctx, deed.Who, deed.Args...)
	}
	return child.Run(s.ctx, s.Program, s.line(deed.Who, deed.Args...)...)
}

func (s *shell) run(deed Deed) tea.Cmd {
	return func() tea.Msg {
		said, code, err := s.verb(deed)
		switch {
		case err != nil:
			said = strings.Join(append([]string{err.Error()}, fail.HintsOf(err)...), "\nhint: ")
		case code == 0 && strings.TrimSpace(said) == string(deed.Who.Handle): // for scripts
			said = deed.Who.name() + ": " + deed.Verb + " is done"
		}
		return ended{deed.Who, said, code != 0 || err != nil}
	}
}

// View implements [tea.Model].
func (s *shell) View() tea.View {
	view := tea.NewView(s.model.View())
	view.AltScreen, view.WindowTitle, view.MouseMode = true, s.model.Title(), tea.MouseModeCellMotion
	return view
}
