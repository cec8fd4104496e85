package ui

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/supervisor"
)

// ModelName returns a model's name for people.
func ModelName(model agent.Model) string { return cmp.Or(string(model), "Claude's choice") }

// CarriedLines returns what a record gives an agent besides conversation, model, mode and folder, one part a line.
func CarriedLines(r *agent.Record) []Line {
	var lines []Line
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		lines = append(lines, Line{"Variable", name + "=" + strconv.Quote(r.Env[name])})
	}
	if r.MayManage {
		lines = append(lines, Line{"Powers", "may give other agents more than it has"})
	}
	if r.Depth > 0 {
		lines = append(lines, Line{"Spawned by", "an agent, " + human.Count(r.Depth, "agent") + " away from a person"})
	}
	if r.Settings != "" {
		lines = append(lines, Line{"Settings", r.Settings})
	}
	return append(lines, Line{"Config folder", configFolder(r)}, Line{"Arguments", cmp.Or(strings.Join(agent.Mapped(r.ClaudeArgs, strconv.Quote), " "), "none")})
}

func configFolder(r *agent.Record) string {
	switch {
	case r.ConfigDir != "":
		return strconv.Quote(r.ConfigDir)
	case r.Schema == 0:
		return "that of the command that starts it"
	default:
		return "Claude's own"
	}
}

// How context use, cost and resource use are shown.

const bandsVariable = "NBS_CONTEXT_BANDS"

// ContextBands returns the limits from the environment, or the default ones. Errors: BadInput.
func ContextBands() (agent.Bands, error) {
	text := os.Getenv(bandsVariable)
	if text == "" {
		return agent.DefaultBands, nil
	}
	bands, err := agent.ParseBands(text)
	if err != nil {
		return bands, fmt.Errorf("%s: %w", bandsVariable, err)
	}
	return bands, nil
}

// NotePause adds a note to the output if the project is paused.
func (f *Factory) NotePause(s *supervisor.Supervisor) {
	pause, err := s.Project.Store.Watching().Paused()
	if err != nil {
		f.SayNote(err.Error())
		return
	}
	if pause != nil {
		f.SayNote(f.Pasteable(f.pauseWords(pause) + "; to end it: nbs-worker unpause"))
	}
}

func (f *Factory) pauseWords(pause *watching.Pause) string {
	words := fmt.Sprintf("paused since %s: no automatic repairs or restarts", f.When(pause.Since))
	if why := pause.Words(); why != "" {
		words += " (" + OneLine(why) + ")"
	}
	return words
}

// Line is one row of session's output: its name, and its value.
type Line [2]string

// ValueIndent is the column of the values in the output of session.
const ValueIndent = 17 // columns

// PrintLines prints lines, with their values wrapped to width columns; 0: not wrapped.
func (f *Factory) PrintLines(lines []Line, width int) error {
	var text strings.Builder // written at once: a write for each line takes time
	for _, l := range lines {
		values := strings.Split(human.Legible(l[1]), "\n")
		for i, value := range values {
			values[i] = Hanging(value, ValueIndent, width)
		}
		indented := strings.Join(values, "\n"+strings.Repeat(" ", ValueIndent))
		fmt.Fprintf(&text, "%-16s %s\n", l[0]+":", cmp.Or(indented, "-"))
	}
	_, err := io.WriteString(f.Streams.Out, text.String())
	return err
}

// When formats a time of the past.
func (f *Factory) When(at time.Time) string {
	if at.IsZero() {
		return "unknown"
	}
	return f.shownTime(at, time.Now())
}

// shownTime formats a time for the reader of stdout: a person, or a program.
func (f *Factory) shownTime(at, now time.Time) string {
	if f.Streams.OutTTY {
		return human.Ago(at, now)
	}
	return at.UTC().Format(time.RFC3339)
}

// SetWords describes what was changed, and when it takes effect.
func SetWords(changed supervisor.Changed) string {
	if len(changed.Changes) == 0 {
		return "nothing changed: the values are already set"
	}
	var words []string
	for _, c := range changed.Changes {
		text := fmt.Sprintf("%s is %s, was %s", c.Field, valueWords(c.To), valueWords(c.From))
		if !c.Now && changed.Runs {
			text += " (from its next start on)"
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// valueWords formats a value for a sentence.
func valueWords(value string) string {
	const long = 40
	if len(value) > long || strings.ContainsAny(value, " \n\t") {
		return human.Quote(value)
	}
	return cmp.Or(value, "none")
}
