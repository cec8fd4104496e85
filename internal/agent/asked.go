package agent

import "strings"

// Asked is what a dialog of claude's asks a person, as it is drawn.
type Asked struct {
	Text    string   // above the choices: tool, command or path, and the question, a line each
	Choices []string // in their order
}

// String is what is asked on one line.
func (a *Asked) String() string {
	return strings.ReplaceAll(a.Text, "\n", " · ") + " [" + strings.Join(a.Choices, " / ") + "]"
}
