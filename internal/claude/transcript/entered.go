package transcript

import (
	"bytes"
	"errors"
	"io"

	"nbs-worker/internal/claude/jsonl"
)

// Entered are the folders to which a session has moved by itself, according to its transcript: its agent has entered
// a worktree with a tool of Claude's, or a person has typed /cd.
type Entered struct {
	Known     bool   // the transcript says something about it
	Worktree  string // in which the session is; a resume goes back there. "": in none
	From      string // the folder that it left for the worktree
	Relocated string // to which it moved last, as newer versions of Claude Code write down
}

// Includes reports whether a folder is one of them.
func (e Entered) Includes(folder string) bool {
	return folder != "" && (folder == e.Worktree || folder == e.Relocated)
}

// enteredLimit is larger than any record about a move, in bytes.
const enteredLimit = 1 << 16

// Entered reads the last records about moves. They may be far back in the conversation.
func (t File) Entered() (e Entered, err error) {
	f, err := t.Open()
	if err != nil {
		return e, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return e, err
	}
	var ofWorktree, ofRelocation bool
	for lines := jsonl.BackwardFrom(f, info.Size()); !ofWorktree || !ofRelocation; {
		at, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return e, err
		}
		record, err := readMove(f, at)
		switch {
		case err != nil:
			return e, err
		case record.Type == "worktree-state" && !ofWorktree:
			ofWorktree, e.Worktree, e.From = true, record.Worktree.Path, record.Worktree.From
		case record.Type == "relocated" && !ofRelocation:
			ofRelocation, e.Relocated = true, record.Relocated
		}
	}
	e.Known = ofWorktree || ofRelocation
	return e, nil
}

// move is a record about a move of the session. Worktree is zero if the session has left one.
type move struct {
	Type      string `json:"type"`
	Relocated string `json:"relocatedCwd"`
	Worktree  struct {
		Path string `json:"worktreePath"`
		From string `json:"originalCwd"`
	} `json:"worktreeSession"`
}

// readMove reads a line. It returns the zero record if the line is not about a move.
func readMove(f io.ReaderAt, at jsonl.Span) (record move, err error) {
	if at.Len() > enteredLimit {
		return move{}, nil
	}
	line := make([]byte, at.Len())
	if _, err := f.ReadAt(line, at.Start); err != nil {
		return move{}, err
	}
	if !bytes.Contains(line, []byte(`"worktree-state"`)) && !bytes.Contains(line, []byte(`"relocated"`)) {
		return move{}, nil
	}
	if unmarshalRecord(line, &record) != nil {
		return move{}, nil //nolint:nilerr // a line that was cut short
	}
	return record, nil
}
