package standin

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

// quit is the ending that the user asks for at the prompt.
var quit = ending{code: 0, reason: "prompt_input_exit"}

// press handles a key at the prompt, or in the permission dialog over it.
func (u *tui) press(ctx context.Context, k key) (*ending, error) {
	if u.asking != nil {
		return nil, u.answer(k)
	}
	again := k.kind == u.lastQuit && u.lastQuit != keyText
	u.lastQuit = keyText
	switch k.kind {
	case keyText:
		u.insert(k.text)
	case keyPaste:
		u.insert(u.pasted(k.text))
	case keyNewline:
		u.insert("\n")
	case keyEnter:
		return u.enter(ctx)
	case keyEscape:
		u.interrupt()
	case keyInterrupt, keyEnd:
		if again && u.cancel == nil {
			return &quit, nil
		}
		u.interrupt()
		u.clean()
		u.lastQuit = k.kind
	default: // the arrows do nothing at the prompt
		u.edit(k.kind)
	}
	return nil, nil
}

// pasted marks a long paste, as the newer program does: from four lines or 801 characters on.
func (u *tui) pasted(text string) string {
	long := strings.Count(text, "\n") > 2 || len([]rune(text)) > 800
	if u.s.whims.old() || !long {
		return text
	}
	return fmt.Sprintf("\n\n<pasted_content id=\"21dc\">\n%s\n</pasted_content id=\"21dc\">\n", text)
}

func (u *tui) interrupt() {
	if u.cancel != nil {
		u.cancel()
	}
}

// enter submits the line. A backslash at its end makes a new line instead.
func (u *tui) enter(ctx context.Context) (*ending, error) {
	text := string(u.input)
	if rest, found := strings.CutSuffix(text, `\`); found {
		u.clean()
		u.insert(rest + "\n")
		return nil, nil
	}
	u.clean()
	return u.submit(ctx, text)
}

var command = regexp.MustCompile(`^/[a-z][a-z-]*( |$)`)

// submit takes a prompt: a command, or something to say.
func (u *tui) submit(ctx context.Context, text string) (*ending, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, nil
	}
	if err := u.s.remember(text); err != nil {
		return nil, err
	}
	switch {
	case trimmed == "/exit", trimmed == "exit", trimmed == "quit":
		return &quit, nil
	case trimmed == "/clear" && u.cancel == nil:
		return nil, u.move(ctx, "clear", uuid.NewString())
	case strings.HasPrefix(trimmed, "/resume ") && u.cancel == nil:
		return nil, u.move(ctx, "resume", strings.TrimPrefix(trimmed, "/resume "))
	case command.MatchString(trimmed):
		name, _, _ := strings.Cut(trimmed, " ")
		u.said = append(u.said, "● Unknown command: "+name, "")
		return nil, nil
	}
	u.s.hook(ctx, "UserPromptSubmit", map[string]any{"prompt": trimmed})
	if u.cancel != nil {
		u.queue = append(u.queue, trimmed)
		return nil, nil
	}
	return nil, u.begin(ctx, trimmed)
}

// move goes to another conversation: an empty one after a clear, one that there is after a resume.
func (u *tui) move(ctx context.Context, why, id string) error {
	u.s.hook(ctx, "SessionEnd", map[string]any{"reason": why})
	if err := u.s.renew(id); err != nil {
		return err
	}
	u.said = []string{"❯ /" + why, ""}
	u.recall()
	u.s.told = u.s.hook(ctx, startHook, map[string]any{"source": why})
	return nil
}
