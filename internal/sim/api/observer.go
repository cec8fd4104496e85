package api

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// observing is the sentence by which the system prompt of an observer of the memory is recognized.
const observing = "You are the observer of an agent's work."

func (m message) observes() bool { return strings.Contains(string(m.System), observing) }

var (
	observable  = regexp.MustCompile(`(?mi)^(?:\[[a-z, ]+\] )?(decision|fix|discovery|change|open end|question): *(.+)$`)
	forObserver = regexp.MustCompile(`\[\[observer ([^\]]*)\]\]`)
)

// observed is the answer of an observer: an observation for each line that states one in the transcript that the
// observer is shown. It obeys the directives for an observer there, such as [[observer error 529 times=1]].
func observed(all []string, newest string) answer {
	shown := newest
	if !strings.Contains(shown, "<transcript ") { // it is asked again
		shown = lastShown(all)
	}
	var a answer
	var wrong string
	for _, m := range forObserver.FindAllStringSubmatch(shown, -1) {
		if word, always, _ := strings.Cut(m[1], " "); word == "wrong" && (always == "always" || shown == newest) {
			wrong = "I noted nothing of it."
		} else if shown == newest {
			a.directives = parseDirectives("[[" + m[1] + "]]")
		}
	}
	type observation struct {
		Type  string `json:"type"`
		Title string `json:"title"`
	}
	noted := struct {
		Observations []observation `json:"observations"`
	}{[]observation{}}
	for _, m := range observable.FindAllStringSubmatch(shown, -1) {
		one := observation{strings.ReplaceAll(strings.ToLower(m[1]), " ", "_"), strings.TrimSpace(m[2])}
		if !slices.Contains(noted.Observations, one) { // the agent repeats what it is told
			noted.Observations = append(noted.Observations, one)
		}
	}
	text, _ := json.Marshal(noted) // of strings: it cannot fail
	if a.text = string(text); wrong != "" {
		a.text = wrong
	}
	return a
}

func lastShown(all []string) string {
	for _, text := range slices.Backward(all) {
		if strings.Contains(text, "<transcript ") {
			return text
		}
	}
	return ""
}
