package teamfile

import (
	"errors"
	"io/fs"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// PromptSealKind is the kind of the seal of a prompt file of a team.
const PromptSealKind = "team-prompt"

const fileLimit = 1 << 18 // bytes

// Source is a team file with its prompt files, as they were read.
type Source struct {
	Path string // absolute, without links
	File *File
	Text []byte

	name    string // in its seal
	folder  string // for the seals of prompt files: in the project, relative to it
	prompts map[string][]byte
}

// Part is a file that decides what a team runs.
type Part struct {
	Kind, Name string // of its seal
	Text       []byte
}

// Open reads and checks a team file, with its prompt files. A relative path begins in the project, and "" is the usual
// one. Errors: NotFound; BadInput, which lists all mistakes.
func Open(project, path string) (*Source, error) {
	if path == "" {
		path = DefaultName
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(project, path)
	}
	at, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Errorf(fail.NotFound, "there is no team file %s", human.Quote(path)).
			Hint("to write one from the agents that there are: nbs-worker team init")
	}
	s := &Source{Path: at, name: at, prompts: map[string][]byte{}}
	if err == nil {
		s.Text, err = smallfile.Read(at, fileLimit)
	}
	if err != nil {
		return nil, fail.Errorf(fail.BadInput, "team file %s cannot be read: %w", human.Quote(path), err)
	}
	if name, err := filepath.Rel(project, at); err == nil && filepath.IsLocal(name) {
		s.name = name
	}
	s.folder = filepath.Dir(s.name)
	s.File, err = parse(at, s.Text, s.readPrompt)
	return s, err
}

// readPrompt reads a prompt file.
func (s *Source) readPrompt(path string) (string, error) {
	text, has := s.prompts[path]
	if has {
		return string(text), nil
	}
	text, err := smallfile.ReadBelow(filepath.Dir(s.Path), path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such file in the folder of the team file")
	}
	if err == nil {
		s.prompts[path] = text
	}
	return string(text), err
}

// Prompt returns the text of a prompt file of the team.
func (s *Source) Prompt(path string) (string, error) { return s.readPrompt(path) }

// Parts returns all files that decide what the team runs: the team file first.
func (s *Source) Parts() []Part {
	parts := []Part{{SealKind, s.name, s.Text}}
	seen := map[string]bool{}
	for _, a := range s.File.Agents {
		if a.PromptFile != "" && !seen[a.PromptFile] {
			seen[a.PromptFile] = true
			parts = append(parts, Part{PromptSealKind, filepath.Join(s.folder, a.PromptFile), s.prompts[a.PromptFile]})
		}
	}
	return parts
}

// Check checks that the user has allowed all files of the team as they were read. Errors: Held; those of the check.
func (s *Source) Check(check func(kind, name string, content []byte) error) error {
	for _, part := range s.Parts() {
		if err := check(part.Kind, part.Name, part.Text); err != nil {
			return fail.Errorf(fail.KindOf(err), "team file %w", err).Hint("look at it, then: nbs-worker allow --team%s", s.argument())
		}
	}
	return nil
}

// argument returns what names the file on a command line; nothing for the usual one.
func (s *Source) argument() string {
	if s.name == DefaultName {
		return ""
	}
	return " --file " + human.ShellWord(s.Path)
}
