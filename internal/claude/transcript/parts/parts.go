// Package parts restores a transcript that has lost a part: a file that is deleted while claude runs begins again in the
// middle. It finds the earlier transcripts that a transcript continues, and joins them to one file.
//
// It relies on the ids of records, and on nothing else in them: each names the record before it, also across files.
package parts

import (
	"errors"

	"nbs-worker/internal/claude/transcript"
)

// Of finds the earlier transcripts that a transcript continues: the parent of a part's first record is in the part
// before. It also finds an earlier transcript that this one has only partly, if the new records follow a record that
// is missing here. It returns all parts in order, the transcript last.
func Of(t transcript.File, earlier []transcript.File) ([]transcript.File, error) {
	parts := []transcript.File{t}
	for range earlier {
		parent, err := missingParent(parts[0])
		if err == nil && parent == "" && len(parts) == 1 {
			return behind(t, earlier)
		}
		if err != nil || parent == "" {
			return parts, err
		}
		before, err := holding(earlier, parent)
		if err != nil || before == nil {
			return parts, err
		}
		parts = append([]transcript.File{*before}, parts...)
	}
	return parts, nil
}

// missingParent returns the parent of a transcript's first record if the transcript lacks it, or "".
func missingParent(t transcript.File) (parent string, err error) {
	f, err := t.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = transcript.EachLine(f, func(line transcript.Line) (more bool, err error) {
		if line.UUID != "" {
			parent = line.Parent
		}
		return line.UUID == "", nil
	})
	if err != nil || parent == "" {
		return "", err
	}
	there, err := recordIDs(f)
	if there[parent] {
		parent = ""
	}
	return parent, err
}

// holding returns the transcript that has a record; nil when none has it.
func holding(all []transcript.File, uuid string) (*transcript.File, error) {
	for _, t := range all {
		f, err := t.Open()
		if err != nil {
			return nil, err
		}
		ids, err := recordIDs(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if ids[uuid] {
			return &t, nil
		}
	}
	return nil, nil
}
