package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// dialog is a question that the program asks before the prompt. The texts are the real program's screens.
type dialog struct {
	name    string
	lines   []string
	options []string
	start   int // the option that Enter takes
}

// errLeft ends the program because of an answer: exit code 1.
var errLeft = errors.New("left by a dialog")

func knownDialog(name string) bool {
	return slices.Contains([]string{"trust", "api-key", "bypass", "onboarding", "login"}, name)
}

// firstRun asks what has to be asked, in the real program's order, and acts on the answers.
func (s *session) firstRun(ctx context.Context, t *terminal) error {
	if forced := s.whims.dialog; forced == "onboarding" || forced == "login" {
		_, err := s.show(ctx, t, s.dialog(forced))
		return errors.Join(errLeft, err) // no answer leads out of these two
	}
	steps := []struct {
		name   string
		needed bool
		act    func(option int) error
	}{
		{"trust", !s.cfg.trusts(s.cwd) && os.Getenv("CLAUDE_CODE_SANDBOXED") != "1", s.answerTrust},
		{"api-key", s.key != "" && s.cfg.keyAnswer(s.key) == "", s.answerKey},
		{"bypass", s.opts.bypasses() && !s.settings.SkipBypassPrompt, s.answerBypass},
	}
	for _, step := range steps {
		if !step.needed && s.whims.dialog != step.name {
			continue
		}
		option, err := s.show(ctx, t, s.dialog(step.name))
		if err != nil {
			return err
		}
		if err := step.act(option); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) answerTrust(option int) error {
	if strings.HasPrefix(s.dialog("trust").options[option], "No") {
		return errLeft
	}
	return s.cfg.trust(s.cwd)
}

func (s *session) answerKey(option int) error {
	return s.cfg.answerKey(s.key, []string{"approved", "rejected"}[option])
}

func (s *session) answerBypass(option int) error {
	if option == 0 {
		return errLeft
	}
	return nil
}

// show draws a dialog until it is answered. Escape leaves the program. Text is ignored, Enter is not.
func (s *session) show(ctx context.Context, t *terminal, d dialog) (option int, err error) {
	option = d.start
	for {
		s.drawDialog(t, d, option)
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case k, ok := <-t.keys:
			switch {
			case !ok:
				return 0, endings[os.Signal(hangup)]
			case k.kind == keyEnter && len(d.options) > 0:
				return option, nil
			case k.kind == keyEscape, k.kind == keyInterrupt:
				return 0, errLeft
			case len(d.options) > 0:
				option = d.move(option, k, s.whims.old())
			}
		}
	}
}

// move follows the arrows; the older program also takes a digit.
func (d dialog) move(option int, k key, digits bool) int {
	n := len(d.options)
	switch {
	case k.kind == keyUp:
		return (option + n - 1) % n
	case k.kind == keyDown:
		return (option + 1) % n
	case digits && len(k.text) == 1 && k.text[0] >= '1' && int(k.text[0]-'1') < n:
		return int(k.text[0] - '1')
	}
	return option
}

func (s *session) drawDialog(t *terminal, d dialog, option int) {
	cols, rows := t.size()
	lines := append([]string{strings.Repeat("─", cols)}, d.lines...)
	for i, label := range d.options {
		mark := " "
		if i == option {
			mark = "❯"
		}
		if s.whims.old() {
			label = fmt.Sprintf("%d. %s", i+1, label)
		}
		lines = append(lines, fmt.Sprintf(" %s %s", mark, label))
	}
	if len(d.options) > 0 {
		lines = append(lines, "", " Enter to confirm · Esc to cancel")
	}
	draw(cols, rows, lines)
}
