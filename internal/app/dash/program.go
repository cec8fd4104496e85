package dash

import (
	"context"
	"os/signal"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/child"
)

// Source is where rows come from.
type Source interface {
	// Look returns the agents as they are, and the limits of the account in words.
	Look(ctx context.Context) (rows []Row, limits string, err error)
	// Await waits until an agent may have changed since the last look. Errors: that of the context; Failed.
	Await(ctx context.Context) error
	// Screen returns the screen of an agent, in its colours, and notes that the user has looked at it.
	Screen(ctx context.Context, handle agent.Handle) (string, error)
}

// Options are how the dashboard is shown.
type Options struct {
	Program string   // this program, which the verbs run
	Global  []string // its flags for each verb, such as --root
	Color   bool
}

// Show shows the dashboard until its user leaves, or the context ends. Errors: those of the source; Failed when the
// terminal cannot be used.
func Show(ctx context.Context, source Source, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // or the terminal would stay as it is
	defer stop()
	s := &shell{ctx: ctx, source: source, Options: o, model: Model{Color: o.Color, Now: time.Now()}}
	const framesPerSecond = 10
	_, err := tea.NewProgram(s, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)).Run()
	switch {
	case s.err != nil:
		return s.err
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fail.Errorf(fail.Interrupted, "it was ended by a signal")
	}
	return fail.Errorf(fail.Failed, "the terminal: %w", err)
}

// shell connects the model with the terminal and the source.
type shell struct {
	Options

	ctx    context.Context //nolint:containedctx // bubbletea's commands get none
	source Source
	model  Model
	err    error // of the source
}

// What reaches the shell besides keys.
type (
	looked struct {
		rows   []Row
		limits string
		err    error
	}
	changed struct{ err error }
	shown   struct {
		handle agent.Handle
		text   string
	}
	ended struct {
		handle agent.Handle
		said   string
		failed bool
	}
	cameBack struct{ err error }
	passed   time.Time // some time
)

// Init implements [tea.Model].
func (s *shell) Init() tea.Cmd { return tea.Batch(s.look, passing()) }

// look looks at the agents.
func (s *shell) look() tea.Msg {
	rows, limits, err := s.source.Look(s.ctx)
	return looked{rows, limits, err}
}

// await waits for a change.
func (s *shell) await() tea.Msg { return changed{s.source.Await(s.ctx)} }

// passing lets the ages that are shown grow.
func passing() tea.Cmd {
	const often = 20 * time.Second
	return tea.Tick(often, func(at time.Time) tea.Msg { return passed(at) })
}

// Update implements [tea.Model].
func (s *shell) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	s.model.Now = time.Now()
	switch m := message.(type) {
	case tea.WindowSizeMsg:
		s.model.Width, s.model.Height = m.Width, m.Height
	case tea.KeyPressMsg:
		key := m.String()
		if m.Text != "" && m.Text != " " {
			key = m.Text
		}
		return s, s.do(s.model.Key(key))
	case tea.PasteMsg:
		s.model = s.model.Paste(m.Content)
	case looked:
		return s, s.took(m)
	case changed:
		if s.err = m.err; s.err != nil {
			return s, tea.Quit
		}
		return s, s.look
	case shown:
		s.model = s.model.Screen(m.handle, m.text)
	case ended:
		s.model = s.model.Ended(m.handle, m.said, m.failed)
	case cameBack:
		if m.err != nil {
			s.model = s.model.Ended("", "the terminal could not be shown: "+m.err.Error(), true)
		}
		return s, nil // a change of the agent, or of when it was looked at, is a sign
	case passed:
		return s, passing()
	}
	return s, nil
}

// took takes a look, and waits for the next change.
func (s *shell) took(m looked) tea.Cmd {
	if m.err != nil {
		if s.ctx.Err() == nil {
			s.err = m.err
		}
		return tea.Quit
	}
	s.model.Limits = m.limits
	s.model = s.model.Rows(m.rows)
	cmds := []tea.Cmd{s.await}
	if handle := s.model.Peeks(); handle != "" {
		cmds = append(cmds, s.peek(handle))
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
			cmds = append(cmds, s.peek(deed.Handle))
		case Attach:
			cmds = append(cmds, tea.Exec(child.InForeground(s.Program, s.line("attach", string(deed.Handle))...), func(err error) tea.Msg { return cameBack{err} }))
		case Run:
			cmds = append(cmds, s.run(deed))
		}
	}
	return tea.Batch(cmds...)
}

// line returns the arguments of a verb in this project.
func (s *shell) line(args ...string) []string {
	return append(append([]string{args[0]}, s.Global...), args[1:]...)
}

func (s *shell) peek(handle agent.Handle) tea.Cmd {
	return func() tea.Msg {
		text, err := s.source.Screen(s.ctx, handle)
		if err != nil {
			text = err.Error()
		}
		return shown{handle, text}
	}
}

func (s *shell) run(deed Deed) tea.Cmd {
	return func() tea.Msg {
		said, code, err := child.Run(s.ctx, s.Program, s.line(deed.Args...)...)
		switch {
		case err != nil:
			said = err.Error()
		case code == 0 && strings.TrimSpace(said) == string(deed.Handle): // for scripts
			said = string(deed.Handle) + ": " + deed.Verb + " is done"
		}
		return ended{deed.Handle, said, code != 0 || err != nil}
	}
}

// View implements [tea.Model].
func (s *shell) View() tea.View {
	view := tea.NewView(s.model.View())
	view.AltScreen = true
	return view
}
