package serve

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/attention"
)

// requestPost returns the post of a request.
func (n *Needs) requestPost(key string, r *requests.Request) *post {
	text := answer.Describe(*r)
	title := fmt.Sprintf("%s asks for permission, since %s: %s", r.Handle, n.clock(r.At), strings.TrimSuffix(text.Title, ": "+text.What))
	if len(text.Questions) > 0 {
		title = fmt.Sprintf("%s has a question, since %s.\n%s", r.Handle, n.clock(r.At), howToAnswer(r.ID, text.Questions))
	}
	p := &post{key: key, id: idOf(requestWord, key, r.ID), Post: &deliveries.Post{
		Handle: string(r.Handle), Request: r.ID, Since: r.At, Title: title, Body: kept(text.Body),
	}}
	p.choices = choicesOf(r.ID, &text)
	return p
}

// howToAnswer names the command for answers that have no button.
func howToAnswer(id string, questions []answer.Question) string {
	switch {
	case len(questions) > 1:
		return "To answer, one choice for each: /answer " + id + strings.Repeat(" 1", len(questions))
	case questions[0].Several:
		return "To choose several: /answer " + id + " 1,2"
	}
	return "In your own words: /answer " + id + " WORDS"
}

// kept returns the part of a body that a note has room for. No chat shows more.
func kept(body string) string {
	const most = 6000 // characters
	return body[:human.Prefix(body, most, human.Letter)]
}

// choicesOf returns the buttons of a request. A question of a kind that has no button is answered with a command.
func choicesOf(id string, text *answer.Text) (choices []bridge.Choice) {
	const longest = 48 // characters of a button
	if len(text.Questions) == 0 {
		return []bridge.Choice{{Label: "Approve", Command: "/approve " + id}, {Label: "Deny", Command: "/deny " + id}}
	}
	if len(text.Questions) == 1 {
		for i, o := range text.Questions[0].Options {
			label := strconv.Itoa(i+1) + ". " + o.Label
			choices = append(choices, bridge.Choice{Label: human.Cut(label, longest, human.Letter), Command: "/answer " + id + " " + text.Questions[0].Number(i)})
		}
	}
	return append(choices, bridge.Choice{Label: "Deny", Command: "/deny " + id})
}

// needPost returns the post of a need that is no request.
func (n *Needs) needPost(key string, a *AgentNeed) *post {
	return &post{key: key, id: idOf(needWord, key, a.Handle.Key(), string(a.Need.Reason), strconv.FormatInt(a.Need.Since.Unix(), 10)), Post: &deliveries.Post{
		Handle: string(a.Handle), Reason: string(a.Need.Reason), Since: a.Need.Since, Title: n.title(a),
	}}
}

func (n *Needs) title(a *AgentNeed) string {
	title := string(a.Handle) + " is " + string(a.Need.Reason)
	if a.Need.Reason == attention.Waits {
		title = string(a.Handle) + " waits"
	}
	if !a.Need.Since.IsZero() {
		title += ", since " + n.clock(a.Need.Since)
	}
	if what := human.Legible(human.OneLine(a.Need.What)); what != "" {
		title += ": " + human.Cut(what, 300, human.Letter)
	}
	return title
}

// shown returns what the chat shows of a post.
func (p *post) shown(outcome string) bridge.Post {
	return bridge.Post{Title: p.Title, Body: p.Body, Whole: "The whole of it: nbs-worker requests " + p.Handle, Outcome: outcome}
}

// became returns what has become of a post's need, in words; "" if it is as it was. later: after which time it may be
// known.
func (n *Needs) became(p *post, now *Needed) (outcome string, later time.Duration) {
	a := now.of(p.Handle)
	if p.Request != "" {
		return n.requestBecame(p, a, now)
	}
	switch {
	case a == nil:
		return "Over: " + p.Handle + " is dismissed.", 0
	case p.isOf(a) && a.Need.Seen:
		return "Seen by a person.", 0
	case p.isOf(a), a.Need == nil && a.Unknown:
		return "", 0
	}
	return "Over: " + p.Handle + " is " + a.State + " now.", 0
}

func (n *Needs) requestBecame(p *post, a *AgentNeed, now *Needed) (outcome string, later time.Duration) {
	switch fate, given := n.Fate(p.Request); fate {
	case requests.Open, requests.Answered:
		return "", 0
	case requests.Taken:
		words := answer.Words(&given)
		return fmt.Sprintf("%s%s at %s, by %s.", strings.ToUpper(words[:1]), words[1:], n.clock(given.At), human.Legible(human.OneLine(cmp.Or(given.By, "another")))), 0
	case requests.Gone:
	}
	waits := a != nil && a.Need != nil && a.Need.Reason == attention.Waits && !now.asks(a.Handle) && !a.Need.Since.After(p.Since.Add(together))
	if !waits {
		return "Over: it was answered at the terminal, or what asked has ended.", 0
	}
	if p.gone.IsZero() {
		p.gone = n.Now()
	}
	if left := settles - n.Now().Sub(p.gone); left > 0 { // claude may be about to go on
		return "", left
	}
	return "It can only be answered at the terminal now: nbs-worker attach " + string(agent.Handle(p.Handle)), 0
}

// clock formats a time for the user's clock, with the day unless it is today.
func (n *Needs) clock(at time.Time) string {
	at, now := at.Local(), n.Now().Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("15:04 on 2 January")
}
