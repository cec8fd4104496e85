package answer

import (
	"context"
	"regexp"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/requests"
)

var likeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}$`) })

// Split returns the id and the choices among the words after a handle. The first word is an id if it looks like one:
// an id that is over must not become words for the model. The label of an option is no id.
func (a *Answerer) Split(_ context.Context, handle agent.Handle, words []string) (id string, choices []string, err error) {
	if len(words) == 0 || !likeID().MatchString(words[0]) {
		return "", words, nil
	}
	open, err := a.openOf(handle)
	if err != nil {
		return "", nil, err
	}
	if len(open) == 1 && open[0].ID != words[0] {
		for _, q := range questionsOf(&open[0]) {
			if q.index(words[0]) >= 0 {
				return "", words, nil
			}
		}
	}
	return words[0], words[1:], nil
}

// IsID reports whether a word looks like the id of a request.
func IsID(word string) bool { return likeID().MatchString(word) }

// Words returns what an answer says, in one line: "allowed", "denied", "answered".
func Words(given *requests.Answer) string {
	switch {
	case !given.Allow:
		return "denied"
	case len(given.Input) > 0:
		return "answered"
	}
	return "allowed"
}
