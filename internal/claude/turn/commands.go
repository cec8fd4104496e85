package turn

import (
	"context"
	"slices"
	"strings"
)

// commands are those that claude says it has.
type commands struct {
	asked bool
	known chan struct{} // closed when claude has said them
	names []string
}

// askCommands asks claude for its commands. It does so before any text: nothing of that is in the transcript.
const askCommands = `{"type":"control_request","request_id":"commands","request":{"subtype":"initialize"}}` + "\n"

// Command has claude run one of its commands, "/name arguments", as [Process.Turn] sends a text. Claude is asked before
// whether it has the command: 2.1.332 gives the text of an unknown one to the model.
func (p *Process) Command(ctx context.Context, id, command string, heard func(Event)) (Outcome, error) {
	return p.run(ctx, id, heard, func(t *listener) {
		name := strings.TrimPrefix(firstWord(command), "/")
		switch names, said := p.askCommands(); {
		case !said: // it has ended
		case slices.Contains(names, name):
			p.say(id, []saidBlock{{Type: "text", Text: command}})
		default:
			p.refuse(t, name)
		}
	})
}

// askCommands returns the names of claude's commands. said is false if claude has ended.
func (p *Process) askCommands() (names []string, said bool) {
	p.mu.Lock()
	if !p.commands.asked {
		p.commands.asked = true
		go func() { _, _ = p.stdin.Write([]byte(askCommands)) }() // it fails when claude has ended
	}
	p.mu.Unlock()
	select {
	case <-p.commands.known:
		return p.commands.names, true
	case <-p.ended:
		return nil, false
	}
}

// learn notes the names of claude's commands. Its caller holds the lock.
func (c *commands) learn(l *line) {
	if l.Type != "control_response" || !c.asked || c.names != nil {
		return
	}
	c.names = []string{}
	for _, command := range l.Response.Response.Commands {
		c.names = append(append(c.names, command.Name), command.Aliases...)
	}
	close(c.known)
}

// refuse ends a turn whose command claude does not have.
func (p *Process) refuse(t *listener, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.end.result == nil {
		t.end.result, t.end.unknown = &result{}, name
		close(t.over)
	}
}

func firstWord(text string) string {
	for word := range strings.FieldsSeq(text) {
		return word
	}
	return ""
}
