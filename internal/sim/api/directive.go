package api

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// directives is what the user's text asks of the simulator. See the package comment.
type directives struct {
	delay     time.Duration
	until     string // "": at once
	slow      time.Duration
	status    int    // 0: none
	times     int    // 0: for ever
	heals     string // the word whose release ends the failures; "": none does
	midstream bool   // fail when a part of the answer is out
	drop      bool   // fail by closing the connection
	tooLong   bool
	usage     int
	limits    map[string]window // of the account, by Claude's short names
	tools     []call
}

// call is a call of a tool that the answer asks for.
type call struct {
	name  string
	input json.RawMessage
}

var directiveStart = regexp.MustCompile(`\[\[(delay|until|slow|error|drop|usage|limits|tool) +([^\s\]]+) *`)

// parseDirectives reads the directives in a text. It ignores what it cannot read, and what stands in the input of a tool:
// that is for another agent.
func parseDirectives(text string) directives {
	var d directives
	for m := directiveStart.FindStringSubmatchIndex(text); m != nil; m = directiveStart.FindStringSubmatchIndex(text) {
		word, arg, rest := text[m[2]:m[3]], text[m[4]:m[5]], text[m[1]:]
		text = rest
		switch word {
		case "delay":
			d.delay, _ = time.ParseDuration(arg)
		case "until":
			d.until = arg
		case "slow":
			d.slow, _ = time.ParseDuration(arg)
		case "usage":
			d.usage, _ = strconv.Atoi(arg)
		case "error":
			d.parseError(arg, rest)
			if d.tooLong = arg == "too-long"; d.tooLong {
				d.status, d.times = http.StatusBadRequest, 0
			}
		case "drop":
			if d.drop = arg == "midstream"; d.drop {
				d.parseError("500", "midstream "+rest)
			}
		case "limits":
			d.limits = parseLimits(arg, rest)
		case "tool":
			var c call
			if c, text = parseTool(arg, rest); c.name != "" {
				d.tools = append(d.tools, c)
			}
		}
	}
	return d
}

// parseError reads the rest of an error: "midstream", "times=N", "until=WORD", in any order.
func (d *directives) parseError(arg, rest string) {
	status, err := strconv.Atoi(arg)
	if err != nil || status < 400 || status > 599 {
		return
	}
	d.status = status
	inside, _, _ := strings.Cut(rest, "]]")
	for word := range strings.FieldsSeq(inside) {
		if n, found := strings.CutPrefix(word, "times="); found {
			d.times, _ = strconv.Atoi(n)
		}
		if word, found := strings.CutPrefix(word, "until="); found {
			d.heals = word
		}
		d.midstream = d.midstream || word == "midstream"
	}
}

// parseTool returns a call and the text after it. It lets the JSON decoder find the end of the input, which may itself
// contain "]]".
func parseTool(name, rest string) (c call, after string) {
	c = call{name, json.RawMessage("{}")}
	if !strings.HasPrefix(rest, "{") {
		return c, rest
	}
	decoder := json.NewDecoder(strings.NewReader(rest))
	if decoder.Decode(&c.input) != nil {
		return call{}, rest
	}
	return c, rest[decoder.InputOffset():]
}

// window is a limit of the account: how much of it is used, and how long it goes on.
type window struct {
	used float64 // from 0 to 1
	left time.Duration
}

// parseLimits reads words like "5h=0.42@1h".
func parseLimits(arg, rest string) map[string]window {
	limits := map[string]window{}
	inside, _, _ := strings.Cut(rest, "]]")
	for word := range strings.FieldsSeq(arg + " " + inside) {
		name, value, _ := strings.Cut(word, "=")
		used, left, _ := strings.Cut(value, "@")
		share, err := strconv.ParseFloat(used, 64)
		lasts, wrong := time.ParseDuration(left)
		if err == nil && wrong == nil {
			limits[name] = window{share, lasts}
		}
	}
	return limits
}

// tellLimits adds the limits of the account to the headers of an answer.
func (d directives) tellLimits(header http.Header, now time.Time) {
	for name, w := range d.limits {
		prefix := "Anthropic-Ratelimit-Unified-" + name
		header.Set(prefix+"-Utilization", strconv.FormatFloat(w.used, 'f', -1, 64))
		header.Set(prefix+"-Reset", strconv.FormatInt(now.Add(w.left).Unix(), 10))
		header.Set("Anthropic-Ratelimit-Unified-Status", "allowed")
	}
}
