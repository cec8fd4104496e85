package agent

import (
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// written reads JSON as this program writes it: a field a line, two blanks a level, the
// fields in the order of their struct. It takes half of the time that a decoder of any
// JSON takes, and a list reads a thousand records. What it asks for and does not come next is
// absent; where something comes that was not asked for, or in another form, it is not ok, and
// nothing that it returned counts. The strings that it returns hold on to the whole text.
type written struct {
	rest   string
	level  int
	first  bool // nothing was read yet of the innermost object or array
	failed bool
}

func readWritten(text string) *written {
	w := &written{rest: text}
	w.enter("{")
	return w
}

// ok ends the reading.
func (w *written) ok() bool {
	w.leave("}")
	return !w.failed && (w.rest == "\n" || w.rest == "")
}

// cut takes what must come next.
func (w *written) cut(text string) bool {
	if w.failed || !strings.HasPrefix(w.rest, text) {
		return false
	}
	w.rest = w.rest[len(text):]
	return true
}

func (w *written) must(came bool) { w.failed = w.failed || !came }

// line begins a new line of the innermost object or array.
func (w *written) line() bool {
	const margin = "\n                "
	return (w.first || w.cut(",")) && 1+2*w.level <= len(margin) && w.cut(margin[:1+2*w.level])
}

// field takes the name of a field, if it comes next.
func (w *written) field(name string) bool {
	before := w.rest
	if w.line() && w.cut(`"`) && w.cut(name) && w.cut(`": `) {
		w.first = false
		return true
	}
	w.rest = before
	return false
}

// element begins the next element of an array.
func (w *written) element() bool {
	before := w.rest
	if w.line() {
		w.first = false
		return true
	}
	w.rest = before
	return false
}

func (w *written) enter(bracket string) {
	w.must(w.cut(bracket))
	w.level, w.first = w.level+1, true
}

func (w *written) leave(bracket string) {
	w.level, w.first = w.level-1, true // so that no comma comes before the bracket
	w.must(w.line() && w.cut(bracket))
	w.first = false
}

// object reads the fields of an object, if it comes next.
func (w *written) object(name string, fields func()) {
	if !w.field(name) {
		return
	}
	w.enter("{")
	fields()
	w.leave("}")
}

// objects reads the fields of each object of an array.
func (w *written) objects(name string, fields func()) {
	if !w.field(name) {
		return
	}
	w.enter("[")
	for w.element() {
		w.enter("{")
		fields()
		w.leave("}")
	}
	w.leave("]")
}

func (w *written) strings(name string) []string {
	if !w.field(name) {
		return nil
	}
	all := []string{}
	if w.cut("[]") {
		return all
	}
	w.enter("[")
	for w.element() {
		all = append(all, w.text())
	}
	w.leave("]")
	return all
}

func (w *written) stringMap(name string) map[string]string {
	if !w.field(name) {
		return nil
	}
	all := map[string]string{}
	if w.cut("{}") {
		return all
	}
	w.enter("{")
	for w.element() {
		key := w.text()
		w.must(w.cut(": "))
		all[key] = w.text()
	}
	w.leave("}")
	return all
}

func (w *written) string(name string) string {
	if !w.field(name) {
		return ""
	}
	return w.text()
}

// text reads a string.
func (w *written) text() string {
	if !w.cut(`"`) {
		w.failed = true
		return ""
	}
	for i := range len(w.rest) {
		switch c := w.rest[i]; {
		case c == '"':
			text := w.rest[:i]
			w.rest = w.rest[i+1:]
			return text
		case c == '\\' || c < ' ' || c >= 0x80:
			return w.unusualText()
		}
	}
	w.failed = true
	return ""
}

// unusualText leaves a string to the decoder of any JSON, from behind its first quote.
func (w *written) unusualText() string {
	for i := 0; i < len(w.rest); i++ {
		switch w.rest[i] {
		case '\\':
			i++
		case '"':
			var text string
			w.must(jsonv2.Unmarshal([]byte(`"`+w.rest[:i+1]), &text, lenient) == nil)
			w.rest = w.rest[i+1:]
			return text
		}
	}
	w.failed = true
	return ""
}

func (w *written) bool(name string) bool {
	if !w.field(name) {
		return false
	}
	is := w.cut("true")
	w.must(is || w.cut("false"))
	return is
}

func (w *written) int(name string) int {
	if !w.field(name) {
		return 0
	}
	n, err := strconv.Atoi(w.number())
	w.must(err == nil)
	return n
}

func (w *written) int64(name string) int64 {
	if !w.field(name) {
		return 0
	}
	n, err := strconv.ParseInt(w.number(), 10, 64)
	w.must(err == nil)
	return n
}

func (w *written) intOrNull(name string) *int {
	if !w.field(name) || w.cut("null") {
		return nil
	}
	n, err := strconv.Atoi(w.number())
	w.must(err == nil)
	return &n
}

func (w *written) uint(name string) uint64 {
	if !w.field(name) {
		return 0
	}
	n, err := strconv.ParseUint(w.number(), 10, 64)
	w.must(err == nil)
	return n
}

func (w *written) float(name string) float64 {
	if !w.field(name) {
		return 0
	}
	n, err := strconv.ParseFloat(w.number(), 64)
	w.must(err == nil)
	return n
}

// number takes a number without an exponent.
func (w *written) number() string {
	whole := strings.TrimPrefix(w.rest, "-")
	n := digits(whole)
	w.must(n == 1 || n > 1 && whole[0] != '0')
	rest := whole[n:]
	if fraction, dotted := strings.CutPrefix(rest, "."); dotted {
		n := digits(fraction)
		w.must(n > 0)
		rest = fraction[n:]
	}
	number := w.rest[:len(w.rest)-len(rest)]
	w.rest = rest
	return number
}

// digits is how many digits a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// time reads a time in UTC.
func (w *written) time(name string) time.Time {
	if !w.field(name) {
		return time.Time{}
	}
	text := w.text()
	at, err := time.Parse(time.RFC3339, text)
	// Parse knows other forms of it.
	w.must(err == nil && text[13] == ':' && strings.HasSuffix(text, "Z") && !strings.Contains(text, ","))
	return at
}
