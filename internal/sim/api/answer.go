package api

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// answer is what the simulated model says.
type answer struct {
	text   string // not said if it calls tools
	input  int    // tokens
	output int
	directives
}

var rememberN = regexp.MustCompile(`Remember (?:the number )?(\d+)`)

// compute returns the simulated model's answer, which is a function of the request alone.
func compute(m message, body []byte) answer {
	text, result, isResult := m.lastTurn()
	all := m.userTexts()
	goesOn := text == goOn
	if goesOn {
		text = lastBut(all, goOn)
	}
	a := answer{text: say(text, all, m.terse()), input: 10 + len(body)/4}
	switch {
	case m.observes() && !isSide(text):
		a = observed(all, text)
		a.input = 10 + len(body)/4
	case isResult && text == "":
		a.text = "Tool said: " + first(result, 200)
	case isResult: // a message that was typed while the tool ran comes with its result
		a.text = "Tool said: " + first(result, 200) + "\n" + a.text
	case !isSide(text) && !goesOn:
		a.directives = parseDirectives(text)
	}
	if a.usage > 0 {
		a.input = a.usage
	}
	m.demandJSON(&a)
	a.output = 1 + len(a.text)/4
	for _, c := range a.tools {
		a.output += len(c.input) / 4
	}
	return a
}

// isSide reports whether a text is a query that the client makes for itself and that quotes its user: 2.1.197 asks for a
// title.
func isSide(text string) bool { return strings.HasPrefix(text, "<session>") }

// goOn is what nbs-worker says when the text of a turn is in the conversation and has no answer yet.
const goOn = "Please answer the message above; it has had no answer yet."

// lastBut is the newest text that differs from but.
func lastBut(all []string, but string) string {
	for _, text := range slices.Backward(all) {
		if text != but {
			return text
		}
	}
	return ""
}

func say(text string, all []string, terse bool) string {
	switch m := rememberN.FindStringSubmatch(text); {
	case strings.Contains(text, "What number"):
		return recall(all, terse)
	case m != nil && terse:
		return "OK."
	case m != nil:
		return "OK, I will remember " + m[1] + "."
	}
	return lengthened("You said: "+first(text, 200), text)
}

var longN = regexp.MustCompile(`\[\[long (\d+)\]\]`)

// lengthened makes an answer as long as its text asks for.
func lengthened(answer, text string) string {
	m := longN.FindStringSubmatch(text)
	if m == nil {
		return answer
	}
	most, _ := strconv.Atoi(m[1]) // digits
	var b strings.Builder
	b.WriteString(answer)
	for line := 1; b.Len() < most; line++ {
		fmt.Fprintf(&b, "\n\n%d of: %s", line, text)
	}
	return b.String()
}

// recall looks through the conversation as it was sent; newest first.
func recall(all []string, terse bool) string {
	for _, text := range slices.Backward(all) {
		if m := rememberN.FindAllStringSubmatch(text, -1); m != nil && terse {
			return m[len(m)-1][1] + "."
		} else if m != nil {
			return m[len(m)-1][1]
		}
	}
	if terse {
		return "I don't have any number in mind."
	}
	return "I don't know any number."
}

// first cuts a text after n characters.
func first(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

// turnKey identifies a turn by its session, its place there and its text. An observer's session does not count: what
// failed in one is shown to the observer again in another.
func (m message) turnKey(session string) string {
	if m.observes() {
		session = "observer"
	}
	text, _, _ := m.lastTurn()
	return fmt.Sprintf("%s/%d/%s", session, len(m.Messages), text)
}

// id makes a deterministic identifier out of a request, e.g. "msg_sim_1f0c…".
func id(prefix string, body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body) // never fails
	return fmt.Sprintf("%s_sim_%016x", prefix, h.Sum64())
}
