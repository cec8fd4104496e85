package teamfile

import (
	"errors"
	"io/fs"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// The kinds of the seals of the files that a team file names.
const (
	PromptSealKind   = "team-prompt"
	SettingsSealKind = "team-settings"
)

const fileLimit = 1 << 18 // bytes

// Source is a team file with the files that it names, as they were read.
type Source struct {
	Path string // absolute, without links
	File *File
	Text []byte

	name   string // in its seal
	folder string // for the seals of those files: in the project, relative to it
	others map[string][]byte
}

// Part is a file that decides what a team runs.
type Part struct {
	Kind, Name string // of its seal
	Text       []byte
}

// Open reads and checks a team file, with the files that it names. A relative path begins in the project, and "" is the usual
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
	s := &Source{Path: at, name: at, others: map[string][]byte{}}
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
	s.File, err = parse(at, s.Text, s.readFile)
	return s, err
}

// readFile reads a file that the team file names.
func (s *Source) readFile(path string) (string, error) {
	text, has := s.others[path]
	if has {
		return string(text), nil
	}
	text, err := smallfile.ReadBelow(filepath.Dir(s.Path), path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is no such file in the folder of the team file")
	}
	if err == nil {
		s.others[path] = text
	}
	return string(text), err
}

// Prompt returns the text of a prompt file of the team.
func (s *Source) Prompt(path string) (string, error) { return s.readFile(path) }

// Parts returns all files that decide what the team runs: the team file first.
func (s *Source) Parts() []Part {
	parts := []Part{{SealKind, s.name, s.Text}}
	seen := map[[2]string]bool{}
	for _, a := range s.File.Agents {
		for _, named := range [][2]string{{PromptSealKind, a.PromptFile}, {SettingsSealKind, a.SettingsFile}} {
			if kind, path := named[0], named[1]; path != "" && !seen[named] {
				seen[named] = true
				parts = append(parts, Part{kind, filepath.Join(s.folder, path), s.others[path]})
			}
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
