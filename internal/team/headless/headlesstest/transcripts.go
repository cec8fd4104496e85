package headlesstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
)

// Transcript returns the file of a session.
func (c *Claudes) Transcript(id agent.SessionID) string {
	return filepath.Join(c.Config, "projects", "-p", string(id)+".jsonl")
}

// WriteHeard appends a text to the transcript of a session, as of a claude that was killed before it answered.
func (c *Claudes) WriteHeard(id agent.SessionID, textID, text string) {
	c.writeOf(id, textID, text, &turn.Outcome{Class: turn.Killed})
}

// WriteAnswered appends a text and its answer to the transcript of a session, which no runner has heard.
func (c *Claudes) WriteAnswered(id agent.SessionID, textID, text string) {
	c.writeOf(id, textID, text, &turn.Outcome{Answer: "re: " + text})
}

// WriteStopped appends that the turn with a text was interrupted.
func (c *Claudes) WriteStopped(id agent.SessionID, textID string) {
	const form = `{"uuid":"stopped-%[1]s","parentUuid":%[1]q,"sessionId":%[2]q,"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
	(&Claude{of: c, id: id}).append(fmt.Sprintf(form, textID, id))
}

func (c *Claudes) writeOf(id agent.SessionID, textID, text string, o *turn.Outcome) {
	c.mu.Lock()
	if c.last == nil {
		c.alive, c.busy, c.last = map[*Claude]bool{}, map[agent.SessionID]bool{}, map[agent.SessionID]string{}
	}
	c.mu.Unlock()
	(&Claude{of: c, id: id}).write(textID, text, o)
}

// write appends a turn to the transcript, as Claude does.
func (c *Claude) write(textID, text string, o *turn.Outcome) {
	if c.of.Config == "" {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var lines []string
	record := func(id, form string, args ...any) {
		parent := "null"
		if last := c.of.last[c.id]; last != "" {
			parent = strconv.Quote(last)
		}
		c.of.last[c.id] = id
		lines = append(lines, fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":%q,%s}`+"\n", id, parent, c.id, fmt.Sprintf(form, args...)))
	}
	if o.Class == turn.Blocked {
		c.append(fmt.Sprintf(`{"type":"system","subtype":"informational","uuid":"refused-%s","sessionId":%q,"content":%q}`+"\n", textID, c.id, o.Detail))
		return
	}
	record(textID, `"type":"user","message":{"role":"user","content":%s}`, strconv.Quote(text))
	if c.Context != "" {
		context, err := os.ReadFile(c.Context)
		c.of.must(err)
		record("context-"+textID, `"type":"attachment","attachment":{"type":"hook_success","hookEvent":"UserPromptSubmit","content":%s,"stdout":%[1]s}`, strconv.Quote(string(context)))
	}
	const says = `"type":"assistant","message":{"role":"assistant","model":"claude-sonnet-5","stop_reason":%q,"content":[%s]}`
	if o.Answer == UsedTool {
		record("tool-"+textID, says, "tool_use", `{"type":"tool_use","id":"t","name":"Bash","input":{}}`)
	}
	if o.Class == turn.Answered {
		record("answer-"+textID, says, "end_turn", `{"type":"text","text":`+strconv.Quote(o.Answer)+`}`)
	}
	c.append(strings.Join(lines, ""))
}

func (c *Claude) append(lines string) {
	path := c.of.Transcript(c.id)
	c.of.must(os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	c.of.must(err)
	defer file.Close()
	_, err = file.WriteString(lines)
	c.of.must(err)
}
