package answer

import (
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/requests"
)

// answerTo returns the answer for the hook, if what is said fits the request and the caller may say it. Errors:
// BadInput; Held.
func (a *Answerer) answerTo(r *requests.Request, say *Say) (requests.Answer, error) {
	text := Describe(*r)
	given := requests.Answer{Allow: say.Allow, By: a.who(say), At: a.project.Now().UTC()}
	switch {
	case len(say.Choices) > 0 && len(text.Questions) == 0:
		return given, fail.Errorf(fail.BadInput, "the request %s is no question: %s", r.ID, text.Title).
			Hint("nbs-worker approve %s %s", r.Handle, r.ID).Hint("nbs-worker deny %s %s", r.Handle, r.ID)
	case len(say.Choices) > 0:
		input, err := chosen(r, text.Questions, say.Choices)
		if err != nil {
			return given, err
		}
		given.Allow, given.Input = true, input
	case !say.Allow:
		given.Message = say.Message
	case len(text.Questions) > 0:
		return given, fail.Errorf(fail.BadInput, "the request %s is a question and needs an answer: %s", r.ID, text.Title).
			Hint("nbs-worker answer %s %s 1", r.Handle, r.ID)
	}
	if say.Always {
		if !given.Allow || len(say.Choices) > 0 || len(text.Always) == 0 {
			return given, fail.Errorf(fail.BadInput, "Claude suggests no rule for the request %s", r.ID).
				Hint("to allow it this time: nbs-worker approve %s %s", r.Handle, r.ID)
		}
		given.Rules = r.Suggested
	}
	return given, a.by.CheckAnswer(asked(r, &given))
}
