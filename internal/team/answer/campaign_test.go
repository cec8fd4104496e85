package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/requests"
)

// kind is a kind of request, what is said to it, and what its hook then gets.
type kind struct {
	tool, input, suggested string
	say                    Say
	fits                   func(r *requests.Waiting, got *requests.Answer) bool
}

// kinds are five kinds of requests; %d is replaced by a number of its own.
var kinds = []kind{
	{
		"Bash", `{"command":"make part%d"}`, suggestedRule, Say{Allow: true, Always: true},
		func(_ *requests.Waiting, got *requests.Answer) bool {
			return got.Allow && string(got.Rules) == suggestedRule
		},
	},
	{
		"Edit", `{"file_path":"/p/%[1]d","old_string":"a","new_string":"b"}`, "", Say{Message: "not part %d"},
		func(r *requests.Waiting, got *requests.Answer) bool {
			return !got.Allow && strings.Contains(string(r.Input), "/p/"+strings.TrimPrefix(got.Message, "not part ")+`"`)
		},
	},
	{
		"AskUserQuestion", `{"questions":[{"question":"Part %[1]d?","options":[{"label":"yes %[1]d"},{"label":"no %[1]d"}]}]}`, "", Say{Choices: []string{"2"}},
		func(r *requests.Waiting, got *requests.Answer) bool {
			var of, answered struct {
				Questions []struct{ Question string }
				Answers   map[string]string
			}
			return got.Allow && json.Unmarshal(r.Input, &of) == nil && json.Unmarshal(got.Input, &answered) == nil && len(answered.Answers) == 1 &&
				"Part "+strings.TrimPrefix(answered.Answers[of.Questions[0].Question], "no ")+"?" == of.Questions[0].Question
		},
	},
	{
		"WebFetch", `{"url":"https://example.com/%d","prompt":"x"}`, "", Say{Allow: true},
		func(_ *requests.Waiting, got *requests.Answer) bool {
			return got.Allow && len(got.Rules) == 0 && len(got.Input) == 0
		},
	},
	{
		"ExitPlanMode", `{"plan":"1. Part %d"}`, "", Say{Message: "not yet, part %d"},
		func(r *requests.Waiting, got *requests.Answer) bool {
			return !got.Allow && strings.Contains(string(r.Input), strings.TrimPrefix(got.Message, "not yet, part "))
		},
	},
}

// What becomes of a request before it is answered.
const (
	answeredOnce  = iota // as it should be
	answeredTwice        // by two at once
	terminalFirst        // its hook ends; then it is answered late
	ways
)

// Of 200 requests of five kinds, up to eight open at a time, each gets the answer that was given to it, or none; each
// receipt is true; none that is answered twice has two receipts; and none that the terminal had first has one.
func TestTwoHundredRequestsOfFiveKinds(t *testing.T) {
	t.Parallel()
	const all, atOnce = 200, 8
	w := newWorld(t)
	turns := make(chan struct{}, atOnce)
	var at sync.WaitGroup
	for n := range all {
		turns <- struct{}{}
		at.Go(func() {
			defer func() { <-turns }()
			w.campaign(n, kinds[n%len(kinds)], rand.IntN(ways))
		})
	}
	at.Wait()
	open, err := w.List(t.Context())
	rig.Check(t, err == nil && len(open) == 0, "left: %v, %v", open, err)
}

// numbered returns a text with its number.
func numbered(text string, n int) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return fmt.Sprintf(text, n)
}

func (w *world) campaign(n int, k kind, way int) {
	r := requests.Request{Handle: "alpha", At: time.Now(), Tool: k.tool, Input: json.RawMessage(numbered(k.input, n))}
	if k.suggested != "" {
		r.Suggested = json.RawMessage(k.suggested)
	}
	asked, err := w.project.Store.Requests().Open(r)
	rig.Check(w, err == nil, "%v", err)
	if err != nil {
		return
	}
	answerers := 1
	taken := make(chan requests.Answer, 1)
	switch way {
	case terminalFirst:
		asked.Close()
		close(taken)
	case answeredTwice:
		answerers = 2
		taken = w.takes(asked, nil)
	default:
		taken = w.takes(asked, nil)
	}
	say := k.say
	say.Message = numbered(say.Message, n)
	receipts := make(chan Receipt, answerers)
	var at sync.WaitGroup
	for i := range answerers {
		at.Go(func() {
			say := say
			say.By = fmt.Sprintf("telegram:%d", i)
			receipt, err := w.Answer(w.Context(), "alpha", asked.ID, say)
			if err == nil {
				receipts <- receipt
				return
			}
			isLate := errors.Is(err, ErrOver) && way == terminalFirst || (errors.Is(err, ErrAnswered) || errors.Is(err, ErrOver)) && way == answeredTwice
			rig.Check(w, isLate, "%s %d, way %d: %v", k.tool, n, way, err)
		})
	}
	at.Wait()
	close(receipts)
	got, is := <-taken
	receipt, proved := <-receipts
	_, second := <-receipts
	rig.Check(w, is == (way != terminalFirst) && proved == is && !second, "%s %d, way %d: taken %t, receipt %t, a second one %t", k.tool, n, way, is, proved, second)
	if is && proved {
		rig.Check(w, receipt.Request.ID == asked.ID && receipt.Answer.By == got.By && k.fits(asked, &got), "%s %d: the hook has %+v; the receipt says %+v", k.tool, n, got, receipt)
	}
}
