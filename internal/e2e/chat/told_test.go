package chat

import (
	"bytes"
	"strings"
	"testing"
)

// asked returns the body of the last request to the API whose last text is the user's.
func (p *phone) asked(text string) []byte {
	p.Helper()
	var body []byte
	for _, r := range p.API.Requests() {
		if r.Last() == text {
			body = r.Body
		}
	}
	p.Check(body != nil, "the API was not asked %q", text)
	return body
}

// A chat knows what it was sent from outside, also before its first message, and what its memory has: both reach the
// warm Claude beside the user's words. The memory is that of the chat, observed by the server.
func TestAChatKnowsWhatItWasSentAndWhatItSaid(t *testing.T) {
	m := eachVersion(t)
	m.Chats()
	p := m.bridged("--enrich")
	const key, decision, question = "telegram:123456789", "decision: pancakes on Sunday", "And the pancakes then?"
	m.OK("tell", key, "The first canary.")
	p.hears("The first canary.")
	m.MustSay(m.OK("memory", "on", key, "--json"), `"conversation":"`+key+`"`)
	p.writes(decision, "You said: "+decision)
	p.Check(bytes.Contains(p.asked(decision), []byte("The first canary.")) && bytes.Contains(p.asked(decision), []byte("The project is ")), "%s", p.asked(decision))

	p.WaitFor("the server observes the chat", func() (bool, string) {
		list := m.OK("memory", "list", "--handle", key)
		return strings.Contains(list, "pancakes on Sunday"), list
	})
	m.OK("tell", key, "The second canary.")
	p.hears("The second canary.")
	p.writes(question, "You said: "+question)
	body := p.asked(question)
	p.Check(bytes.Contains(body, []byte("The second canary.")) && bytes.Count(body, []byte("The first canary.")) == 1, "%s", body)
	p.Check(bytes.Contains(body, []byte(", decision: pancakes on Sunday")), "%s", body)
	p.Check(!strings.Contains(m.OK("conversation", "history", key), "canary"), "the context is among the words")
	p.Check(len(m.keyed(key).Previous) == 0, "%+v", m.keyed(key))
}
