package changes

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Place is a line of a file, or several: "cart/price.go:42", "cart/price.go:42-50".
type Place struct {
	File        string // below a folder that is named elsewhere
	First, Last int
}

// ParsePlace reads a place. Errors: BadInput.
func ParsePlace(text string) (Place, error) {
	at := strings.LastIndexByte(text, ':')
	file, lines := text[:max(at, 0)], text[at+1:]
	from, to, several := strings.Cut(lines, "-")
	first, err := strconv.Atoi(from)
	last := first
	if several && err == nil {
		last, err = strconv.Atoi(to)
	}
	file = filepath.Clean(cmp.Or(file, "."))
	if err != nil || first < 1 || last < first || !filepath.IsLocal(file) || file == "." || !human.IsLegible(text) || strings.ContainsAny(text, "\n\t") {
		return Place{}, fail.Errorf(fail.BadInput, "%s is not FILE:LINE, with a file of the agent's tree", human.Quote(text))
	}
	return Place{file, first, last}, nil
}

func (p Place) String() string {
	text := p.File + ":" + strconv.Itoa(p.First)
	if p.Last > p.First {
		text += "-" + strconv.Itoa(p.Last)
	}
	return text
}

// In returns a text about the place: with its first line, which shows where it was if the file changes.
func (p Place) In(line, text string) string {
	const long = 120 // characters
	line = human.Cut(human.Legible(human.OneLine(line)), long, human.Letter)
	if line != "" {
		line = ", `" + line + "`"
	}
	return "About " + p.String() + line + ": " + text
}

// Read returns the first line of a place in the tree of an agent: below the top of its working tree, or else below the
// folder in which it works. Errors: NotFound without the file; BadInput if it has fewer lines.
func (p Place) Read(ctx context.Context, r *agent.Record, report *agent.Report) (string, error) {
	folders := []string{folderOf(r, report)}
	if t, err := Find(ctx, r, report); err == nil && t.Top != folders[0] {
		folders = append([]string{t.Top}, folders...)
	}
	for _, folder := range folders {
		line, err := p.readBelow(folder)
		if !errors.Is(err, fs.ErrNotExist) {
			return line, err
		}
	}
	return "", fail.Errorf(fail.NotFound, "%s is not a file in %s", human.Quote(p.File), human.Quote(folders[0]))
}

func (p Place) readBelow(folder string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if info, err := root.Stat(p.File); err != nil || !info.Mode().IsRegular() {
		if link, isThere := root.Lstat(p.File); isThere == nil && link.Mode()&fs.ModeSymlink != 0 {
			return "", fail.Errorf(fail.BadInput, "%s is a link to no file in %s", human.Quote(p.File), human.Quote(folder))
		}
		return "", cmp.Or(err, fs.ErrNotExist)
	}
	file, err := root.Open(p.File)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines, first := 0, ""
	for all := bufio.NewReader(file); lines < p.Last; lines++ {
		line, err := all.ReadString('\n')
		if err != nil && line == "" {
			if errors.Is(err, io.EOF) {
				err = fail.Errorf(fail.BadInput, "%s has %s", human.Quote(p.File), human.Count(lines, "line"))
			}
			return "", err
		}
		if lines+1 == p.First {
			first = string(bytes.ToValidUTF8([]byte(line), []byte("?")))
		}
	}
	return first, nil
}
