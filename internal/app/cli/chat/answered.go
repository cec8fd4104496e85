package chat

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// hear prints a part of an answer as it arrives.
func hear(f *ui.Factory, text string) {
	if f.JSON {
		_ = f.PrintJSON(wire.AnswerPart{Text: text}) // the result repeats all of it
		return
	}
	_, _ = fmt.Fprint(f.Streams.Out, human.Legible(text))
}

// heardText collects the parts of an answer.
type heardText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heardText) add(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(text)
}

func (h *heardText) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// answered prints the result of a turn. said was printed as the answer arrived. If it does not end with the answer,
// after a failed attempt or lost parts, the whole answer follows on its own line. What Claude said by itself after it
// follows behind an empty line.
func answered(f *ui.Factory, key conversations.Key, r conversations.Result, said string) error {
	if f.JSON {
		if err := f.PrintJSON(wire.NewAnswer(key, r)); err != nil {
			return err
		}
		return conversation.ErrOf(key, r)
	}
	if err := conversation.ErrOf(key, r); err != nil {
		return err
	}
	if r.Notice != "" {
		f.SayNote(r.Notice)
	}
	if len(r.Denials) > 0 {
		f.Hint("what Claude may do: nbs-worker help permissions")
	}
	if r.Warning != "" {
		f.SayNote("Claude warns: " + r.Warning)
	}
	if strings.TrimSpace(r.Answer) == "" {
		f.SayNote("Claude gave an empty answer.")
	}
	words := slices.Insert(slices.Clone(r.FollowUps), 0, r.Answer)
	if said != "" {
		if _, err := fmt.Fprintln(f.Streams.Out); err != nil {
			return err
		}
		if strings.HasSuffix(strings.TrimSpace(said), strings.TrimSpace(r.Answer)) {
			words[0] = ""
		}
	}
	text := strings.TrimPrefix(strings.Join(words, "\n\n"), "\n")
	if said != "" && text == "" {
		return nil
	}
	_, err := fmt.Fprintln(f.Streams.Out, human.Legible(text))
	return err
}
