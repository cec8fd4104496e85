// Package told judges a bot from outside: from what its users said, and what the chats of a simulated Telegram show in
// the end. Each message has its answer once, in its place, in the order in which the messages were said, and what stands
// there twice says so. The package imports nothing of the product: it knows the bot's words as a user does.
package told

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"nbs-worker/internal/sim/telegram"
)

// Place is a chat, or a topic of one.
type Place struct {
	Chat  int64
	Topic int
}

// Said is what a user or a schedule said, and what the bot is to tell of it.
type Said struct {
	Place  Place
	Number int            // of the message; 0: it has no message
	Text   string         // for a finding
	Wants  []string       // the whole answer, in one of its possible forms
	Reply  *regexp.Regexp // in place of Wants: what a command may be answered with
	Aside  bool           // its answer has no order among the others
	IsStop bool           // its reply may say that the turn of an earlier message was stopped

	From, Until time.Time // when the answer may come; zero: at any time
}

// again begins what the chat may have already.
const again = "(You may have this already: I was interrupted while telling it.)\n\n"

// stoppedMark ends what was written of an answer that was stopped.
const stoppedMark = "(Stopped.)"

// words are what the bot says besides answers: it tells nothing that may not stand there twice.
var words = regexp.MustCompile(`^(Queued: \d+ messages? before |I heard: |The edit came too late: |Claude was ended in the middle|Claude ended in the middle)`)

// Judge returns what is wrong, and how many messages stand there twice and say so.
func Judge(said []Said, shown []telegram.Message) (findings []string, twice int) {
	j := listen(said, shown)
	for at, answers := range j.places {
		j.close(at, answers)
	}
	slices.Sort(j.findings)
	return j.findings, j.twice
}

// listen takes up all that the bot has shown.
func listen(said []Said, shown []telegram.Message) *judge {
	j := &judge{places: map[Place][]*answer{}}
	for _, s := range said {
		j.places[s.Place] = append(j.places[s.Place], &answer{Said: s})
	}
	for _, m := range shown {
		if m.Bot && !m.Deleted {
			j.hear(m)
		}
	}
	return j
}

type judge struct {
	places   map[Place][]*answer
	findings []string
	twice    int
}

// answer is how much of an answer was told.
type answer struct {
	Said

	form    string // the one of Wants that is told, without blanks
	told    int    // bytes of form
	last    int    // number of the last message of it
	replied string // to a command
	inDoubt bool   // the reply may be that of an earlier command, said again
	cut     bool   // it was stopped
	passed  string // the message after it that was answered first
}

func (j *judge) find(at Place, format string, args ...any) {
	j.findings = append(j.findings, fmt.Sprintf("chat %d, topic %d: ", at.Chat, at.Topic)+fmt.Sprintf(format, args...))
}

// bare is a text without blanks: where a long answer is split, they are lost.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// hear takes up one message of the bot's.
func (j *judge) hear(m telegram.Message) {
	at := Place{m.Chat, m.Topic}
	text, isAgain := strings.CutPrefix(m.Text, again)
	if rest, isCut := strings.CutSuffix(text, stoppedMark); isCut {
		j.hearCut(at, rest)
		return
	}
	for _, a := range j.places[at] {
		if a.goesOn(text, m) {
			j.inOrder(at, a)
			return
		}
	}
	if j.repeats(at, text, isAgain) {
		return
	}
	for _, a := range j.places[at] {
		switch {
		case !a.has(text):
		case isAgain:
			j.twice++
			return
		default:
			j.find(at, "told twice without saying so: %.80q, the answer to %.60q", m.Text, a.Text)
			return
		}
	}
	if words.MatchString(text) {
		return
	}
	j.astray(at, text)
}

// repeats takes up a reply that may be one said again: in the words that are true by then, or in those of a command
// whose reply was thought to be an earlier one said again.
func (j *judge) repeats(at Place, text string, isAgain bool) bool {
	for _, a := range slices.Backward(j.places[at]) {
		if a.replied == "" || !a.Reply.MatchString(text) || !isAgain && !a.inDoubt {
			continue
		}
		if !isAgain {
			a.replied, a.inDoubt = text, false
		}
		j.twice++
		return true
	}
	return false
}

// hearCut takes up what was written of an answer before it was stopped.
func (j *judge) hearCut(at Place, text string) {
	for _, a := range j.places[at] {
		if a.Reply == nil && a.told == 0 && !a.cut && slices.ContainsFunc(a.Wants, func(form string) bool { return strings.HasPrefix(bare(form), bare(text)) }) {
			a.cut = true
			return
		}
	}
	j.astray(at, text)
}

// astray finds out where a text belongs that has no place where it is.
func (j *judge) astray(at Place, text string) {
	for other, answers := range j.places {
		for _, a := range answers {
			switch {
			case other != at && a.Reply == nil && a.in(text) >= 0:
				j.find(at, "told in the wrong place: %.80q, the answer to %.60q of chat %d, topic %d", text, a.Text, other.Chat, other.Topic)
				return
			case other == at && a.in(text) >= 0:
				j.find(at, "told without what comes before it, or at a wrong time: %.80q, the answer to %.60q", text, a.Text)
				return
			}
		}
	}
	j.find(at, "told without a question: %.120q", text)
}

// goesOn reports whether a text is what comes next of an answer, and takes it up.
func (a *answer) goesOn(text string, m telegram.Message) bool {
	if m.Number < a.Number || !a.From.IsZero() && m.At.Before(a.From) || !a.Until.IsZero() && m.At.After(a.Until) {
		return false
	}
	if a.Reply != nil {
		is := a.replied == "" && a.Reply.MatchString(text)
		if is {
			a.replied, a.inDoubt, a.last = text, strings.HasPrefix(m.Text, again), m.Number
		}
		return is
	}
	part := bare(text)
	for _, form := range a.Wants {
		if form = bare(form); (a.form == "" || a.form == form) && part != "" && a.told < len(form) && strings.HasPrefix(form[a.told:], part) {
			a.form, a.told, a.last = form, a.told+len(part), m.Number
			return true
		}
	}
	return false
}

// has reports whether a text was told already.
func (a *answer) has(text string) bool {
	if a.Reply != nil {
		return a.replied == text
	}
	return strings.Contains(a.form[:a.told], bare(text))
}

// in returns where a text is in an answer; -1: it is no part of it.
func (a *answer) in(text string) int {
	for _, form := range a.Wants {
		if at := strings.Index(bare(form), bare(text)); at >= 0 {
			return at
		}
	}
	return -1
}

func (a *answer) isWhole() bool {
	return a.replied != "" || a.form != "" && a.told == len(a.form)
}

// inOrder checks that the answers before one were told before it. One that is missing may have been stopped.
func (j *judge) inOrder(at Place, a *answer) {
	if a.Aside {
		return
	}
	if a.passed != "" {
		j.find(at, "told in the wrong order: the answer to %.60q came before that to %.60q", a.passed, a.Text)
		a.passed = ""
	}
	for _, b := range j.places[at] {
		if b == a {
			return
		}
		if !b.Aside && !b.isWhole() && !b.cut {
			b.passed = a.Text
		}
	}
}

// close looks for what was not told. As many answers may be missing as stops say that they have stopped something: for
// each, one of those before it.
func (j *judge) close(at Place, answers []*answer) {
	open := []*answer{}
	for _, a := range answers {
		switch {
		case a.IsStop && strings.HasPrefix(a.replied, "Stopped."):
			if len(open) == 0 {
				j.find(at, "%q was replied to %.60q, and every message has its answer", a.replied, a.Text)
				continue
			}
			last := len(open) - 1
			if cut := slices.IndexFunc(open, func(b *answer) bool { return b.cut }); cut >= 0 {
				last = cut
			}
			open = slices.Delete(open, last, last+1)
		case !a.isWhole() && a.Reply == nil:
			open = append(open, a)
		case !a.isWhole():
			j.find(at, "lost: %.60q has no reply", a.Text)
		}
	}
	slices.SortStableFunc(open, func(a, b *answer) int { return cmp.Compare(a.Number, b.Number) })
	for _, a := range open {
		if a.told > 0 {
			j.find(at, "lost: the end of the answer to %.60q, from its byte %d on", a.Text, a.told)
			continue
		}
		j.find(at, "lost: %.60q has no answer", a.Text)
	}
}

// Strays returns what was heard in another session than its user was in: after a command that left one, as its reply
// says, and before he may have gone back; or before the command, if it was answered by then. heard has the session of
// each text.
func Strays(said []Said, shown []telegram.Message, heard map[string]string) []string {
	j := listen(said, shown)
	j.findings = nil // they are those of Judge
	for at, answers := range j.places {
		left, since := "", []*answer{}
		for _, a := range answers {
			session := a.sessionIn(heard)
			switch _, kept, leaves := strings.Cut(a.replied, leftWords); {
			case leaves:
				left, _, _ = strings.Cut(kept, ".")
				for _, b := range since {
					if was := b.sessionIn(heard); b.isWhole() && b.last < a.last && was != "" && was != left {
						j.find(at, "%.60q was heard in session %s, and its user was in %s", b.Text, was, left)
					}
				}
				since = nil
			case a.Reply != nil && a.Reply.MatchString(backWords):
				left, since = "", nil
			case a.Reply == nil:
				since = append(since, a)
				if left != "" && session == left {
					j.find(at, "%.60q was heard in session %s, which its user had left", a.Text, session)
				}
			}
		}
	}
	slices.Sort(j.findings)
	return j.findings
}

// sessionIn returns the session in which a message was heard; "" if it was not.
func (a *answer) sessionIn(heard map[string]string) string {
	if a.Reply == nil {
		for text, session := range heard {
			if a.in(text) >= 0 {
				return session
			}
		}
	}
	return ""
}

const (
	leftWords = "the old conversation is kept as "
	backWords = "Back in "
)
