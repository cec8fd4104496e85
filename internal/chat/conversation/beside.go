package conversation

import (
	"context"
	"strings"
)

// hasContext reports whether the turn's claude has the hook that gives it something beside the text. The hook costs
// each turn two processes. A chat may be sent something at any time, so its claude always has the hook: a warm one
// cannot get it later.
func (j *job) hasContext() bool {
	return j.ask.ContextCmd != "" || j.ask.Context != "" || len(j.told()) > 0 || !j.ask.Isolated && j.IsChat != nil && j.IsChat(j.c.Key())
}

// beside returns what Claude gets beside the user's text.
func (j *job) beside(ctx context.Context) string {
	var parts []string
	const between = "\n\n"
	left := contextLimit
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
			left -= len(part) + len(between)
		}
	}
	add(j.ask.Context)
	add(toldWords(j.told(), j.state.ToldDropped))
	add(j.background(ctx, max(0, left)))
	return strings.Join(parts, between)
}
