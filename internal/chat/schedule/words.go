package schedule

import (
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// PromptSealKind is the kind of a prompt file's seal by the user.
const PromptSealKind = "prompt"

const promptLimit = 1 << 18 // bytes

// Words returns the text for Claude or an agent. Agents can write in the project, so a prompt file is used only if the
// user has allowed its present content. Errors: Held; NotFound; BadInput.
func (e *Entry) Words(project string, check func(kind, name string, content []byte) error) (string, error) {
	switch {
	case e.Send != nil:
		return e.Send.Text, nil
	case e.PromptFile == "":
		return e.Prompt, nil
	}
	text, err := e.ReadPromptFile(project)
	if err != nil {
		return "", err
	}
	if err := check(PromptSealKind, e.PromptFile, text); err != nil {
		return "", fail.Errorf(fail.KindOf(err), "prompt %w", err).Hint("look at it, then: nbs-worker allow --schedules")
	}
	return string(text), nil
}

// ReadPromptFile returns the content of the prompt file, to show it before the user allows it. Errors: NotFound;
// BadInput.
func (e *Entry) ReadPromptFile(project string) ([]byte, error) {
	text, err := smallfile.ReadBelow(project, e.PromptFile, promptLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail.Errorf(fail.NotFound, "schedule %s: there is no prompt_file %s in the project", e.Name, human.Quote(e.PromptFile))
	case errors.As(err, new(smallfile.TooLargeError)):
		return nil, fail.Errorf(fail.BadInput, "schedule %s: prompt_file %s is larger than %d bytes", e.Name, human.Quote(e.PromptFile), promptLimit)
	case err != nil:
		return nil, fail.Errorf(fail.BadInput, "schedule %s: prompt_file cannot be read: %w", e.Name, err)
	case !utf8.Valid(text) || strings.TrimSpace(string(text)) == "":
		return nil, fail.Errorf(fail.BadInput, "schedule %s: prompt_file %s contains no text", e.Name, human.Quote(e.PromptFile))
	}
	return text, nil
}
