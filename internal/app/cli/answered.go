package cli

import (
	"fmt"
	"strings"
	"sync"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// hear prints a part of an answer as it arrives.
func (f *factory) hear(text string) {
	if f.json {
		_ = f.printJSON(wire.AnswerPart{Text: text}) // the result repeats all of it
		return
	}
	_, _ = fmt.Fprint(f.streams.Out, human.Legible(text))
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
// after a failed attempt or lost parts, the whole answer follows on its own line.
func (f *factory) answered(key conversations.Key, r conversations.Result, said string) error {
	if f.json {
		if err := f.printJSON(wire.NewAnswer(key, r)); err != nil {
			return err
		}
		return conversation.ErrOf(key, r)
	}
	if err := conversation.ErrOf(key, r); err != nil {
		return err
	}
	if r.Notice != "" {
		f.sayNote(r.Notice)
	}
	if said != "" {
		_, err := fmt.Fprintln(f.streams.Out)
		if err != nil || strings.HasSuffix(strings.TrimSpace(said), strings.TrimSpace(r.Answer)) {
			return err
		}
	}
	_, err := fmt.Fprintln(f.streams.Out, human.Legible(r.Answer))
	return err
}
