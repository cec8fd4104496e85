package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
)

// Continued finds the transcripts in which this one began: each first record has a parent,
// and the one that holds it comes before. So it does when this one has only some of an earlier
// one, and what is new begins where that ended. It returns all parts in order, this one last.
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

// missingParent is the parent of the first message of a transcript when it is not in it.
func (t File) missingParent() (string, error) {
	f, err := openRegular(t.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var record struct{ UUID, ParentUUID string }
		if json.Unmarshal(line, &record) == nil && record.UUID != "" {
			if record.ParentUUID == "" {
				return "", nil
			}
			there, err := holding([]File{t}, record.ParentUUID)
			if err != nil || there != nil {
				return "", err
			}
			return record.ParentUUID, nil
		}
		if err != nil {
			return "", nil // the end: nothing in it has a parent
		}
	}
}

// holding finds the transcript with a record; nil when none has it.
func holding(all []File, uuid string) (*File, error) {
	for _, t := range all {
		f, err := openRegular(t.Path)
		if err != nil {
			return nil, err
		}
		there, err := streamContains(f, []byte(`"uuid":"`+uuid+`"`))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if there {
			return &t, nil
		}
	}
	return nil, nil
}
