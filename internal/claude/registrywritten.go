package claude

import (
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
)

// readWrittenLive reads an entry as Claude writes it: one object on one line, of strings,
// numbers, truth values and lists of strings. A list reads one for each agent, and a decoder
// of any JSON takes half as long again, after it has made itself ready. Of what is in another
// form it is not ok. The strings that it returns hold on to the whole text.
func readWrittenLive(text string) (live Live, ok bool) {
	e := &entryText{rest: strings.TrimSuffix(text, "\n")}
	e.must(e.cut("{"))
	for more := true; more && !e.failed; more = e.cut(",") {
		name := e.string()
		e.must(e.cut(":"))
		switch name {
		case "pid":
			live.PID = int(e.int())
		case "sessionId":
			live.SessionID = agent.SessionID(e.string())
		case "cwd":
			live.Cwd = e.string()
		case "procStart":
			live.StartTicks = e.quotedUint()
		case "startedAt":
			live.StartedMS = e.int()
		case "version":
			live.Version = e.string()
		case "kind":
			live.Kind = e.string()
		case "entrypoint":
			live.Entrypoint = e.string()
		case "status":
			live.Status = e.string()
		case "waitingFor":
			live.WaitingFor = e.string()
		case "statusUpdatedAt":
			live.UpdatedMS = e.int()
		case "updatedAt":
			live.WrittenMS = e.int()
		default:
			e.skip()
		}
	}
	e.must(e.cut("}") && e.rest == "")
	return live, !e.failed
}

// entryText is what was not read yet of an entry.
type entryText struct {
	rest   string
	failed bool
}

func (e *entryText) must(came bool) { e.failed = e.failed || !came }

// cut takes what must come next, if it does.
func (e *entryText) cut(text string) (came bool) {
	e.rest, came = strings.CutPrefix(e.rest, text)
	return came
}

// string takes a string of printable ASCII without escapes.
func (e *entryText) string() string {
	if !e.cut(`"`) {
		e.failed = true
		return ""
	}
	for i := range len(e.rest) {
		switch c := e.rest[i]; {
		case c == '"':
			text := e.rest[:i]
			e.rest = e.rest[i+1:]
			return text
		case c == '\\' || c < ' ' || c >= 0x7f:
			e.failed = true
			return ""
		}
	}
	e.failed = true
	return ""
}

// digits takes a whole number that has one spelling.
func (e *entryText) digits() string {
	n := 0
	for n < len(e.rest) && '0' <= e.rest[n] && e.rest[n] <= '9' {
		n++
	}
	digits := e.rest[:n]
	e.must(n == 1 || n > 1 && digits[0] != '0')
	e.rest = e.rest[n:]
	return digits
}

func (e *entryText) int() int64 {
	n, err := strconv.ParseInt(e.digits(), 10, 64)
	e.must(err == nil)
	return n
}

func (e *entryText) quotedUint() uint64 {
	quoted := entryText{rest: e.string()}
	n, err := strconv.ParseUint(quoted.digits(), 10, 64)
	e.must(err == nil && !quoted.failed && quoted.rest == "")
	return n
}

// skip takes a value that nobody asks for.
func (e *entryText) skip() {
	switch {
	case e.cut("true"), e.cut("false"), e.cut("null"), e.cut("[]"):
	case strings.HasPrefix(e.rest, `"`):
		e.string()
	case e.cut("["):
		for more := true; more && !e.failed; more = e.cut(",") {
			e.string()
		}
		e.must(e.cut("]"))
	default:
		e.digits()
	}
}
