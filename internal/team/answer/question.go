package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/requests"
)

// Question is one question of a request. Its texts are harmless to print.
type Question struct {
	Text    string
	Header  string // a word or two; may be empty
	Several bool   // more than one option may be chosen
	Options []Option

	asked string // as Claude wrote it
}

// Option is one answer that a question offers. Claude also takes words of the user's own.
type Option struct {
	Label       string
	Description string

	written string // the label as Claude wrote it
}

// questionsOf returns the questions of a request; nil if it asks none.
func questionsOf(r *requests.Request) []Question {
	if r.Tool != toolQuestion {
		return nil
	}
	var input struct {
		Questions []struct {
			Question    string
			Header      string
			MultiSelect bool
			Options     []struct{ Label, Description string }
		}
	}
	if json.Unmarshal(r.Input, &input) != nil {
		return nil
	}
	var all []Question
	for _, q := range input.Questions {
		one := Question{Text: harmless(q.Question), Header: harmless(q.Header), Several: q.MultiSelect, asked: q.Question}
		for _, o := range q.Options {
			one.Options = append(one.Options, Option{Label: harmless(o.Label), Description: harmless(o.Description), written: o.Label})
		}
		all = append(all, one)
	}
	return all
}

func harmless(text string) string { return human.Legible(human.OneLine(text)) }

func (q *Question) write(b *strings.Builder, headed bool) {
	if headed && q.Header != "" {
		b.WriteString("[" + q.Header + "] ")
	}
	b.WriteString(q.Text + "\n")
	for i, o := range q.Options {
		fmt.Fprintf(b, "  %d. %s", i+1, o.Label)
		if o.Description != "" {
			b.WriteString(": " + o.Description)
		}
		b.WriteString("\n")
	}
	if q.Several {
		b.WriteString("  (several may be chosen)\n")
	}
}

// chosen returns the input with which a request's questions are answered. With one question, all choices are its own.
// With several, each has one choice, in their order. Where several options may be chosen, a choice may be a list:
// "1,3". Errors: BadInput.
func chosen(r *requests.Request, questions []Question, choices []string) (json.RawMessage, error) {
	if len(questions) > 1 && len(choices) != len(questions) {
		return nil, fail.Errorf(fail.BadInput, "it asks %s, and %s given; one for each is needed, in their order",
			human.Count(len(questions), "question"), counted(len(choices), "choice is", "choices are")).
			Hint("nbs-worker requests %s", r.Handle)
	}
	answers := map[string]string{}
	for i := range questions {
		own := choices
		if len(questions) > 1 {
			own = choices[i : i+1]
		}
		text, err := questions[i].answer(own)
		if err != nil {
			return nil, err
		}
		answers[questions[i].asked] = text
	}
	input := inputOf(r)
	given, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	input["answers"] = given
	return json.Marshal(input)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// answer returns the answer to a question, in the form in which Claude takes it.
func (q *Question) answer(choices []string) (string, error) {
	var labels []string
	for _, choice := range choices {
		for _, part := range q.parts(choice) {
			label, err := q.label(part)
			if err != nil {
				return "", err
			}
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
	}
	if len(labels) > 1 && !q.Several {
		return "", fail.Errorf(fail.BadInput, "the question %s takes one choice; %d are given", human.Quote(q.asked), len(labels)).
			Hint("words of your own are one word for the shell: '...'")
	}
	return strings.Join(labels, ", "), nil
}

// parts splits a list of numbers, where several options may be chosen.
func (q *Question) parts(choice string) []string {
	if !q.Several || q.index(choice) >= 0 {
		return []string{choice}
	}
	parts := strings.FieldsFunc(choice, func(r rune) bool { return r == ',' || r == ' ' })
	if len(parts) == 0 || slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.Atoi(strings.TrimSuffix(part, "."))
		return err != nil
	}) {
		return []string{choice}
	}
	return parts
}

// label returns the label for a number or a label, or words of the user's own as they are. With a full stop behind it,
// a number is no label. Errors: BadInput, also for a number that is the label of another option.
func (q *Question) label(choice string) (string, error) {
	choice = strings.TrimSpace(choice)
	number, isNumber := strings.CutSuffix(choice, ".")
	n, err := strconv.Atoi(number)
	isOption := err == nil && 1 <= n && n <= len(q.Options)
	at := q.index(choice)
	switch {
	case isOption && (isNumber || at < 0 || at == n-1):
		return q.Options[n-1].written, nil
	case isOption:
		return "", fail.Errorf(fail.BadInput, "%d is the number of an option of the question %s, and the label of another", n, human.Quote(q.asked)).
			Hint("for option %d, %s: %d.", n, human.Quote(q.Options[n-1].Label), n).
			Hint("for option %d, %s: %d.", at+1, human.Quote(q.Options[at].Label), at+1)
	case at >= 0:
		return q.Options[at].written, nil
	case err == nil && !isNumber:
		return "", fail.Errorf(fail.BadInput, "the question %s has no option %d; it has %d", human.Quote(q.asked), n, len(q.Options))
	case choice == "":
		return "", fail.Errorf(fail.BadInput, "a choice is empty")
	}
	return choice, nil
}

// Number returns the choice that is the i-th option and nothing else.
func (q *Question) Number(i int) string {
	number := strconv.Itoa(i + 1)
	if at := q.index(number); at >= 0 && at != i {
		number += "."
	}
	return number
}

// index returns the place of the option with a label; -1 if no option has it.
func (q *Question) index(label string) int {
	return slices.IndexFunc(q.Options, func(o Option) bool {
		return strings.EqualFold(o.written, label) || strings.EqualFold(o.Label, label)
	})
}
