package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"

	"nbs-worker/internal/agent"
)

// ContextLevel is how full a conversation's window is, as computed from its
// transcript: approximate, and stale after a /compact until the next turn.
type ContextLevel struct {
	Tokens int // in the window at the last reply
	Window int // size of the window
}

// UsedPercent is the part of the window in use, rounded.
func (l ContextLevel) UsedPercent() int { return (l.Tokens*100 + l.Window/2) / l.Window }

// transcriptRecord is what is used of one line of a transcript.
type transcriptRecord struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	Cwd         string `json:"cwd"`
	Version     string `json:"version"`
	IsSidechain bool   `json:"isSidechain"`
	Message     struct {
		Model string `json:"model"`
		Usage struct {
			Input         int `json:"input_tokens"`
			CacheCreation int `json:"cache_creation_input_tokens"`
			CacheRead     int `json:"cache_read_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// replied tells whether the record is a reply of the model to the agent itself.
func (r transcriptRecord) replied() bool {
	return r.Type == "assistant" && !r.IsSidechain && r.Message.Model != "<synthetic>" && r.Message.Model != ""
}

// tokenLimit is beyond any window: such a number was not written by Claude.
const tokenLimit = 1 << 40

// Context computes the level from a transcript; known is false when the transcript
// does not tell. model is the recorded one, which alone knows of a [1m] window.
func (t Transcript) Context(model agent.Model) (level ContextLevel, known bool, err error) {
	err = t.backward(func(record transcriptRecord) bool {
		if record.Type == "system" && record.Subtype == "compact_boundary" {
			return false
		}
		if !record.replied() {
			return true
		}
		usage := record.Message.Usage
		level.Tokens = usage.Input + usage.CacheCreation + usage.CacheRead
		level.Window = window(record.Version, record.Message.Model, model)
		known = level.Tokens > 0 && level.Tokens < tokenLimit
		return false
	})
	return level, known, err
}

// window is the size of a model's context window. Up to 2.1.3xx it was 200,000
// unless [1m] was asked for; since then it is a million for all but one model.
func window(version, wireModel string, recorded agent.Model) int {
	const small, large = 200_000, 1_000_000
	switch {
	case strings.HasSuffix(string(recorded), "[1m]"):
		return large
	case strings.HasPrefix(wireModel, "claude-sonnet-4-5"):
		return small
	case versionLess(version, 2, 1, 300):
		return small
	default:
		return large
	}
}

// LastCwd is the folder in which the conversation was last continued, or "".
func (t Transcript) LastCwd() (cwd string, err error) {
	err = t.backward(func(record transcriptRecord) bool {
		cwd = record.Cwd
		return cwd == ""
	})
	return cwd, err
}

const backwardLimit = 16 << 20 // bytes of a transcript's end that are looked at

// backward calls visit with the records from the last to the first until it
// returns false. Lines that are no record, like one cut short, are passed over.
func (t Transcript) backward(visit func(transcriptRecord) bool) error {
	f, err := os.Open(t.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	const piece = 1 << 18
	var rest []byte // a line's end whose beginning is not read yet
	for at := t.Size; at > 0 && t.Size-at < backwardLimit; {
		n := min(piece, at)
		at -= n
		block := make([]byte, n, int(n)+len(rest))
		if _, err := f.ReadAt(block, at); err != nil {
			return err
		}
		lines := bytes.Split(append(block, rest...), []byte{'\n'})
		if at > 0 {
			rest, lines = lines[0], lines[1:]
		}
		for i := len(lines) - 1; i >= 0; i-- {
			var record transcriptRecord
			if json.Unmarshal(lines[i], &record) == nil && !visit(record) {
				return nil
			}
		}
	}
	return nil
}
