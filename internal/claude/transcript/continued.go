package transcript

import (
	"errors"

	"nbs-worker/internal/claude/jsonl"
)

// Continued finds the earlier transcripts that this one continues: the parent of a part's first record is in the part
// before. It also finds an earlier transcript that this one has only partly, if the new records follow a record that
// is missing here. It returns all parts in order, this one last.
func (t File) Continued(earlier []File) ([]File, error) {
	parts := []File{t}
	for range earlier {
		parent, err := parts[0].missingParent()
		if err == nil && parent == "" && len(parts) == 1 {
			return t.behind(earlier)
		}
		if err != nil || parent == "" {
			return parts, err
		}
		before, err := holding(earlier, parent)
		if err != nil || before == nil {
			return parts, err
		}
		parts = append([]File{*before}, parts...)
	}
	return parts, nil
}

// missingParent returns the parent of a transcript's first record if the transcript lacks it, or "".
func (t File) missingParent() (parent string, err error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = eachRecord(f, 0, func(record *conversationRecord, _ jsonl.Span) error {
		if record.UUID == "" {
			return nil
		}
		parent = record.Parent
		return errEnough
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
func holding(all []File, uuid string) (*File, error) {
	for _, t := range all {
		f, err := openRegular(t.Path)
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
