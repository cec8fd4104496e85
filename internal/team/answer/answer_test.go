package answer

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/caller"
)

const suggestedRule = `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make *"}],"behavior":"allow","destination":"localSettings"}]`

// The receipt comes after the hook has the answer, and after the dialog is gone; the journal says who answered, and
// not what was asked.
func TestApproveIsProvedAndJournaled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("waiting", time.Now().Add(-time.Minute))
	asked := w.asks("Bash", `{"command":"make SWORDFISH"}`)
	taken := w.takes(asked, func() { w.says("busy", time.Now()) })
	receipt, err := w.Answer(t.Context(), "ALPHA", "", Say{Allow: true, By: "telegram:7"})
	rig.Must(t, err)
	got, is := <-taken
	rig.Check(t, is && got.Allow && got.By == "telegram:7" && len(got.Rules) == 0, "the hook has %+v, %t", got, is)
	rig.Check(t, receipt.Request.ID == asked.ID && receipt.Words() == "allowed", "%+v", receipt)
	rig.Same(t, "the journal", []string{"alpha: Bash (" + asked.ID + "): allowed; by telegram:7"}, w.noted())
}

func TestDenyHasAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	taken := w.takes(w.asks("Bash", `{"command":"rm -rf ."}`), nil)
	receipt, err := w.Answer(t.Context(), "alpha", "", Say{Message: "Use make clean."})
	rig.Must(t, err)
	got := <-taken
	rig.Check(t, !got.Allow && got.Message == "Use make clean." && got.By != "" && receipt.Words() == "denied", "%+v", got)
}

// What falls short of the proof is an error that says what is known, and is not taken for "nothing was done".
func TestAnswerThatIsNotProved(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		hook func(w *world, asked *requests.Waiting)
		kind fail.Kind
		says string
	}{
		"the hook does not take it": {func(*world, *requests.Waiting) {}, fail.TimedOut, "has not taken"},
		"the dialog stays":          {func(w *world, asked *requests.Waiting) { w.takes(asked, nil) }, fail.TimedOut, "still there"},
		"the dialog comes late": {func(w *world, asked *requests.Waiting) {
			w.says("busy", time.Now().Add(-time.Minute))
			w.takes(asked, func() { w.says("waiting", time.Now().Add(time.Second)) })
		}, fail.TimedOut, "still there"},
		"its claude ends": {func(w *world, asked *requests.Waiting) {
			w.takes(asked, func() { w.table.End(agentPID) })
		}, fail.Failed, "its claude has ended"},
		"the hook ends without it": {func(w *world, asked *requests.Waiting) {
			go func() {
				for _, there, _ := asked.Answer(); !there && w.Context().Err() == nil; _, there, _ = asked.Answer() {
					<-time.After(time.Millisecond)
				}
				asked.Close()
			}()
		}, fail.Failed, "did not note"},
	} {
		w := newWorld(t)
		w.limit = 300 * time.Millisecond
		w.says("waiting", time.Now().Add(-time.Minute))
		asked := w.asks("Bash", `{"command":"make"}`)
		c.hook(w, asked)
		receipt, err := w.Answer(t.Context(), "alpha", asked.ID, Say{Allow: true})
		rig.Check(t, fail.KindOf(err) == c.kind && errors.Is(err, ErrUnproved) && !errors.Is(err, ErrOver) && strings.Contains(err.Error(), c.says), "%s: %v", what, err)
		rig.Check(t, receipt.Request.ID == asked.ID, "%s: %+v", what, receipt)
	}
}

// A dialog that appears after its request was answered is waited for, until it is gone.
func TestDialogThatComesAfterItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("busy", time.Now().Add(-time.Minute))
	gone := make(chan struct{})
	w.takes(w.asks("Bash", `{"command":"make"}`), func() {
		shown := time.Now()
		w.says("waiting", shown)
		go func() {
			<-time.After(200 * time.Millisecond)
			close(gone)
			w.says("busy", shown.Add(time.Millisecond))
		}()
	})
	_, err := w.Answer(t.Context(), "alpha", "", Say{Allow: true})
	rig.Must(t, err)
	select {
	case <-gone:
	default:
		t.Error("the receipt came while the dialog was there")
	}
}

// A dialog that came after the answer is another one.
func TestNextDialogIsNotTheOneThatWasAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("waiting", time.Now().Add(-time.Minute))
	w.takes(w.asks("Bash", `{"command":"make"}`), func() { w.says("waiting", time.Now().Add(time.Second)) })
	_, err := w.Answer(t.Context(), "alpha", "", Say{Allow: true})
	rig.Must(t, err)
	w.says("waiting", time.Now().Add(-time.Minute))
	first := w.asks("Bash", `{"command":"make 1"}`)
	w.asks("Bash", `{"command":"make 2"}`) // waits behind the first
	w.takes(first, nil)
	_, err = w.Answer(t.Context(), "alpha", first.ID, Say{Allow: true})
	rig.Must(t, err)
}

func TestRequestIsPickedByItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Pick(t.Context(), "alpha", "")
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "nothing is asked: %v", err)
	_, err = w.Pick(t.Context(), "nobody", "")
	rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "no such agent"), "%v", err)
	one, two := w.asks("Bash", `{"command":"make one"}`), w.asks("Bash", `{"command":"make two"}`)
	of := w.asksFor("beta", "Bash", `{"command":"make three"}`, "")
	_, err = w.Pick(t.Context(), "alpha", "")
	hints := strings.Join(fail.HintsOf(err), "\n")
	rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(hints, one.ID+"  Bash: make one") && strings.Contains(hints, two.ID+"  Bash: make two"), "%v, %s", err, hints)
	for _, asked := range []*requests.Waiting{one, two} {
		r, err := w.Pick(t.Context(), "alpha", asked.ID)
		rig.Check(t, err == nil && r.ID == asked.ID, "%v, %v", r, err)
	}
	_, err = w.Pick(t.Context(), "alpha", of.ID)
	rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "one of beta"), "another agent's: %v", err)
	for _, id := range []string{one.ID[:4], "00000000", "../x", "\x1b[2J"} {
		_, err = w.Pick(t.Context(), "alpha", id)
		rig.Check(t, fail.KindOf(err) == fail.Conflict && errors.Is(err, ErrOver) && !strings.Contains(err.Error(), "\x1b"), "%q: %v", id, err)
	}
	open, err := w.List(t.Context())
	rig.Check(t, err == nil && len(open) == 3, "%v, %v", open, err)
	open, err = w.List(t.Context(), "Beta")
	rig.Check(t, err == nil && len(open) == 1 && open[0].ID == of.ID, "%v, %v", open, err)
}

// An answer to what is over, or answered, does nothing, also to the next request of the agent.
func TestLateAnswerDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.asks("Bash", `{"command":"make"}`)
	gone.Close() // as if the terminal had answered
	next := w.asks("Bash", `{"command":"rm -rf /"}`)
	_, err := w.Answer(t.Context(), "alpha", gone.ID, Say{Allow: true})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && errors.Is(err, ErrOver), "%v", err)
	fate, _ := w.project.Store.Requests().FateOf(next.ID)
	rig.Check(t, fate == requests.Open, "the next request: %d", fate)
	rig.Must(t, w.project.Store.Requests().Give(next.ID, requests.Answer{By: "ann"}))
	_, err = w.Answer(t.Context(), "alpha", next.ID, Say{Allow: true})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && errors.Is(err, ErrAnswered) && strings.Contains(err.Error(), "by ann"), "%v", err)
	<-w.takes(next, nil)
	_, err = w.Answer(t.Context(), "alpha", next.ID, Say{Allow: true})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && errors.Is(err, ErrAnswered) && strings.Contains(err.Error(), "by ann"), "%v", err)
	rig.Check(t, len(w.noted()) == 0, "the journal: %q", w.noted())
}

// --always is only what Claude suggests, and is said.
func TestAlwaysIsClaudesOwnSuggestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := w.asks("Bash", `{"command":"make"}`)
	_, err := w.Answer(t.Context(), "alpha", plain.ID, Say{Allow: true, Always: true})
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "%v", err)
	plain.Close()
	for _, say := range []Say{{Always: true}, {Always: true, Choices: []string{"1"}}} {
		asked := w.asksFor("alpha", "Bash", `{"command":"make"}`, suggestedRule)
		_, err = w.Answer(t.Context(), "alpha", "", say)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%+v: %v", say, err)
		asked.Close()
	}
	taken := w.takes(w.asksFor("alpha", "Bash", `{"command":"make"}`, suggestedRule), nil)
	receipt, err := w.Answer(t.Context(), "alpha", "", Say{Allow: true, Always: true})
	rig.Must(t, err)
	got := <-taken
	rig.Check(t, string(got.Rules) == suggestedRule, "the hook has the rules %s", got.Rules)
	rig.Same(t, "the rules", []string{"allow Bash(make *), in .claude/settings.local.json"}, receipt.Rules)
	rig.Check(t, receipt.Words() == "allowed", "%s", receipt.Words())
	journal := strings.Join(w.noted(), "\n")
	rig.Check(t, strings.Contains(journal, "): allowed, and from now on allow Bash(make *), in .claude/settings.local.json; by "), "the journal: %s", journal)
}

const oneQuestion = `{"questions":[{"question":"Which\ndatabase?","header":"DB","options":[{"label":"Postgres","description":"big"},{"label":"SQLite"}]}]}`

const twoQuestions = `{"questions":[
	{"question":"Which?","header":"DB","options":[{"label":"Postgres"},{"label":"SQLite"},{"label":"3"}]},
	{"question":"What else?","header":"Parts","multiSelect":true,"options":[{"label":"Cache"},{"label":"Queue"},{"label":"Search, fuzzy"}]}
]}`

func TestQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	for choices, want := range map[string]map[string]string{
		"2":                          {"Which\ndatabase?": "SQLite"},
		"postgres":                   {"Which\ndatabase?": "Postgres"},
		"Neither: use a file":        {"Which\ndatabase?": "Neither: use a file"},
		"1|2":                        {"Which?": "Postgres", "What else?": "Queue"},
		"3|1,3":                      {"Which?": "3", "What else?": "Cache, Search, fuzzy"},
		"SQLite|search, FUZZY":       {"Which?": "SQLite", "What else?": "Search, fuzzy"},
		"SQLite|all of them, really": {"Which?": "SQLite", "What else?": "all of them, really"},
	} {
		w, input := newWorld(t), oneQuestion
		if len(want) == 2 {
			input = twoQuestions
		}
		taken := w.takes(w.asks("AskUserQuestion", input), nil)
		receipt, err := w.Answer(t.Context(), "alpha", "", Say{Choices: strings.Split(choices, "|")})
		rig.Must(t, err)
		var got struct {
			Questions json.RawMessage
			Answers   map[string]string
		}
		a := <-taken
		rig.Must(t, json.Unmarshal(a.Input, &got))
		rig.Same(t, choices, want, got.Answers)
		rig.Check(t, a.Allow && len(got.Questions) > 0 && receipt.Words() == "answered", "%s: %+v", choices, a)
	}
}

// A number that is also the label of another option answers nothing. A full stop says that it is meant as a number, and a
// button says so too.
func TestANumberThatIsTheLabelOfAnotherOption(t *testing.T) {
	t.Parallel()
	const input = `{"questions":[{"question":"How many?","multiSelect":true,"options":[{"label":"2"},{"label":"4"},{"label":"8"}]}]}`
	for choice, want := range map[string]string{"1": "2", "2.": "4", "1.": "2", "3": "8", "8": "8", "2.,3": "4, 8", "2": "", "1,2": ""} {
		w := newWorld(t)
		asked := w.asks("AskUserQuestion", input)
		given, err := w.answerTo(&asked.Request, &Say{Choices: []string{choice}})
		if want == "" {
			rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(strings.Join(fail.HintsOf(err), "\n"), `for option 2, "4": 2.`), "%s: %v", choice, err)
			continue
		}
		rig.Must(t, err)
		var got struct{ Answers map[string]string }
		rig.Must(t, json.Unmarshal(given.Input, &got))
		rig.Equal(t, got.Answers["How many?"], want, "%s", choice)
	}
	r := requests.Request{Tool: "AskUserQuestion", Input: json.RawMessage(input)}
	question := Describe(r).Questions[0]
	rig.Same(t, "the choices", []string{"1", "2.", "3"}, []string{question.Number(0), question.Number(1), question.Number(2)})
}

func TestAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		tool, input string
		say         Say
	}{
		"a question is approved":       {"AskUserQuestion", oneQuestion, Say{Allow: true}},
		"a command is answered":        {"Bash", `{"command":"make"}`, Say{Choices: []string{"1"}}},
		"no such option":               {"AskUserQuestion", oneQuestion, Say{Choices: []string{"3"}}},
		"option 0":                     {"AskUserQuestion", oneQuestion, Say{Choices: []string{"0"}}},
		"an empty choice":              {"AskUserQuestion", oneQuestion, Say{Choices: []string{" "}}},
		"two for one":                  {"AskUserQuestion", oneQuestion, Say{Choices: []string{"1", "2"}}},
		"one for two questions":        {"AskUserQuestion", twoQuestions, Say{Choices: []string{"1"}}},
		"a list where one is to chose": {"AskUserQuestion", twoQuestions, Say{Choices: []string{"7", "1"}}},
	} {
		w := newWorld(t)
		asked := w.asks(c.tool, c.input)
		_, err := w.Answer(t.Context(), "alpha", "", c.say)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%s: %v", what, err)
		fate, _ := w.project.Store.Requests().FateOf(asked.ID)
		rig.Check(t, fate == requests.Open, "%s: it is answered", what)
	}
}

// An id that is over is no answer in words; a label that looks like an id is one.
func TestSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for words, want := range map[string]string{"00000000 2": "00000000", "2": "", "1 2": "", "deadbeef": "", "postgres": "", "0badcafe": "0badcafe"} {
		asked := w.asks("AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"deadbeef"},{"label":"Postgres"}]}]}`)
		given := strings.Fields(words)
		id, choices, err := w.Split(t.Context(), "alpha", given)
		rig.Check(t, err == nil && id == want && slices.Equal(choices, given[len(given)-len(choices):]) && len(choices) == len(given)-min(1, len(id)), "%q: %q, %q, %v", words, id, choices, err)
		asked.Close()
	}
}

// What an answer allows is judged by the tool and its input, and not by what the agent says about it.
func TestAnswersOfAnAgentAreWithinItsMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input string
		given       requests.Answer
		want        caller.Granted
	}{
		{"Bash", `{"command":"make"}`, requests.Answer{}, caller.Granted{}},
		{"Bash", `{"command":"make","file_path":"/p/a"}`, requests.Answer{Allow: true}, caller.Granted{What: "Bash", Any: true}},
		{"Edit", `{"file_path":"/p/a"}`, requests.Answer{Allow: true}, caller.Granted{What: "Edit", Edit: "/p/a"}},
		{"Write", `{"file_path":"/p/a"}`, requests.Answer{Allow: true}, caller.Granted{What: "Write", Edit: "/p/a"}},
		{"Write", `{}`, requests.Answer{Allow: true}, caller.Granted{What: "Write", Any: true}},
		{"Write", `{"file_path":"/p/a"}`, requests.Answer{Allow: true, Rules: json.RawMessage(`[]`)}, caller.Granted{What: "Write with a rule", Any: true}},
		{"NotebookEdit", `{"notebook_path":"/p/a"}`, requests.Answer{Allow: true}, caller.Granted{What: "NotebookEdit", Edit: "/p/a"}},
		{"AskUserQuestion", oneQuestion, requests.Answer{Allow: true, Input: json.RawMessage(`{}`)}, caller.Granted{}},
		{"AskUserQuestion", `{}`, requests.Answer{Allow: true}, caller.Granted{What: "AskUserQuestion", Any: true}},
		{"ExitPlanMode", `{"plan":"x"}`, requests.Answer{Allow: true}, caller.Granted{What: "ExitPlanMode", Any: true}},
	} {
		r := requests.Request{Tool: c.tool, Input: json.RawMessage(c.input)}
		rig.Equal(t, asked(&r, &c.given), c.want, "%s %s", c.tool, c.input)
	}
}
