package memory

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Type is the kind of an observation.
type Type string

// The types.
const (
	Decision  Type = "decision"  // what was chosen, and why
	Fix       Type = "fix"       // what was wrong, and what mended it
	Discovery Type = "discovery" // what was found out
	Change    Type = "change"    // what is different now
	OpenEnd   Type = "open_end"  // what is left to do
	Question  Type = "question"  // an unanswered question
)

// Types returns all types, in their order of display.
func Types() []Type { return []Type{Decision, Fix, Discovery, Change, OpenEnd, Question} }

// ParseType reads a type as a user writes it. Errors: BadInput.
func ParseType(s string) (Type, error) {
	if t := Type(strings.ReplaceAll(strings.ToLower(s), "-", "_")); slices.Contains(Types(), t) {
		return t, nil
	}
	return "", fail.Errorf(fail.BadInput, "type %s is not one of %s", human.Quote(s), names(Types()))
}

func names(types []Type) string {
	var all []string
	for _, t := range types {
		all = append(all, string(t))
	}
	return strings.Join(all, ", ")
}

// Observation is one thing that was noticed in a turn.
type Observation struct {
	ID        int64           `json:"-"`             // within one database; 0: not stored
	ContentID agent.SessionID `json:"content_id"`    // of the conversation in which it was noticed
	Handle    agent.Handle    `json:"-"`             // whose conversation that is
	MemoryID  agent.SessionID `json:"-"`             // of the observer that noticed it
	Turn      int             `json:"turn,omitzero"` // of the conversation, from 1; 0: not of a turn
	Type      Type            `json:"type"`
	Title     string          `json:"title"`               // one line
	Narrative string          `json:"narrative,omitempty"` // the rest, as sentences
	Facts     []string        `json:"facts,omitempty"`     // that can be looked up again, a line each
	Files     []string        `json:"files,omitempty"`     // paths, as they were written
	At        time.Time       `json:"at"`                  // when it was noticed; zero in what is to be stored: now
}

// The limits of one observation, and of one answer of an observer; lengths in bytes.
const (
	TitleLimit        = 300
	NarrativeLimit    = 8_000
	FactLimit         = 1_000
	FactsLimit        = 40 // of one observation; its files too
	ObservationsLimit = 50 // of one answer
)

// Validate checks what the author of the observation chooses: its type and its texts. Errors: BadInput, which names
// the violation.
func (o Observation) Validate() error {
	if !slices.Contains(Types(), o.Type) {
		return fail.Errorf(fail.BadInput, "type %s is not one of %s", human.Quote(string(o.Type)), names(Types()))
	}
	if strings.TrimSpace(o.Title) == "" {
		return fail.Errorf(fail.BadInput, "there is no title")
	}
	if len(o.Facts) > FactsLimit || len(o.Files) > FactsLimit {
		return fail.Errorf(fail.BadInput, "there are more than %d facts or files", FactsLimit)
	}
	if err := checkText("title", o.Title, TitleLimit, isControl); err != nil {
		return err
	}
	if err := checkText("narrative", o.Narrative, NarrativeLimit, isForeign); err != nil {
		return err
	}
	for _, fact := range o.Facts {
		if err := checkText("fact", fact, FactLimit, isControl); err != nil {
			return err
		}
	}
	for _, file := range o.Files {
		if err := checkText("file", file, FactLimit, isControl); err != nil {
			return err
		}
	}
	return nil
}

func checkText(what, text string, limit int, bad func(rune) bool) error {
	switch {
	case len(text) > limit:
		return fail.Errorf(fail.BadInput, "a %s is longer than %d bytes", what, limit)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, bad):
		return fail.Errorf(fail.BadInput, "a %s contains a control character, or is not valid UTF-8", what) // unquoted: it may be of a file
	}
	return nil
}

func isControl(r rune) bool { return unicode.IsControl(r) }

// isForeign is isControl, except for line breaks and tabs.
func isForeign(r rune) bool { return r != '\n' && r != '\t' && isControl(r) }
