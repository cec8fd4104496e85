package ui

import (
	"context"
	"errors"
	"io"
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/supervisor"
)

// ReadFile reads the text file that a flag names (-: stdin), if the caller may read files. Otherwise an agent could
// learn a file's content, or that it exists. what names the text in errors, which never quote it. Errors: Held, and
// those of readText.
func (f *Factory) ReadFile(s *supervisor.Supervisor, what, flag, path string) (string, error) {
	if path != "-" {
		if err := s.Caller.CheckFile(flag, path); err != nil {
			return "", err
		}
	}
	return ReadText(what, path, f.Input())
}

// Input is stdin, for one text. A read of it ends with the first SIGINT or SIGTERM. Errors: also [context.Canceled].
func (f *Factory) Input() io.Reader { return input{f.Streams.In, f.interrupted} }

type input struct {
	in          io.Reader
	interrupted <-chan struct{}
}

func (i input) Read(into []byte) (int, error) {
	type answer struct {
		n   int
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		n, err := i.in.Read(into)
		answers <- answer{n, err}
	}()
	select {
	case a := <-answers:
		return a.n, a.err
	case <-i.interrupted:
		return 0, context.Canceled
	}
}

const textLimit = 1 << 20 // bytes; claude's own limit is checked later

// ReadText reads a text from a file, or from in if path is -. what names the text in errors. Errors: NotFound,
// BadInput.
func ReadText(what, path string, in io.Reader) (string, error) {
	if path != "-" {
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return "", fail.Errorf(fail.NotFound, "%s: %w", what, err)
		}
		if err != nil {
			return "", fail.Errorf(fail.BadInput, "%s: %w", what, err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, textLimit))
	switch {
	case errors.Is(err, context.Canceled):
		return "", fail.Errorf(fail.Interrupted, "interrupted before the end of the input")
	case err != nil:
		return "", fail.Errorf(fail.BadInput, "%s: %w", what, err)
	case len(text) == 0:
		return "", fail.Errorf(fail.BadInput, "%s %s is empty", what, human.Quote(path))
	case len(text) == textLimit:
		return "", fail.Errorf(fail.BadInput, "%s %s has more than %d bytes", what, human.Quote(path), textLimit-1)
	}
	return string(text), agent.CheckText(what+" "+human.Quote(path), string(text))
}

// CheckTexts refuses arguments that are not valid text: our JSON files would change them.
func CheckTexts(args []string) error {
	for _, arg := range args {
		if err := agent.CheckText("the argument "+human.Quote(arg), arg); err != nil {
			return err
		}
	}
	return nil
}
