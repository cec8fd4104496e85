package agent

import "strings"

// Asked is the question of a claude dialog to a person, as drawn.
type Asked struct {
	Text    string   // above the choices: tool, command or path, and the question, each on a line
	Choices []string // in the order of the dialog
}

// String returns the question in one line.
func (a *Asked) String() string {
	return strings.ReplaceAll(a.Text, "\n", " · ") + " [" + strings.Join(a.Choices, " / ") + "]"
}
