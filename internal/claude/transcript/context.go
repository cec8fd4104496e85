package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Level is what a transcript tells of its conversation: approximate, and nothing
// of the level between a /compact and the next reply.
type Level struct {
	Tokens  int       // in the window at the last reply; 0: unknown
	Window  int       // size of the window
	At      time.Time // of the last reply, or of a compaction since
	CostUSD *float64  // up to when Claude wrote it down last; nil: not found
}

// Use is the level; nil when it is not known.
func (l Level) Use() *agent.ContextUse {
	if l.Tokens <= 0 || l.Window <= 0 {
		return nil
	}
	percent := (l.Tokens*100 + l.Window/2) / l.Window
	return &agent.ContextUse{Tokens: l.Tokens, Window: l.Window, UsedPercent: percent, Source: agent.SaysTranscript, At: l.At}
}

// Cost is what the conversation cost; nil when it is not known.
func (l Level) Cost() *agent.Cost {
	if l.CostUSD == nil {
		return nil
	}
	return &agent.Cost{USD: *l.CostUSD, Source: agent.SaysTranscript}
}

// transcriptRecord is what is used of one line of a transcript.
type transcriptRecord struct {
	Type        string   `json:"type"`
	Subtype     string   `json:"subtype"`
	Cwd         string   `json:"cwd"`
	Version     string   `json:"version"`
	IsSidechain bool     `json:"isSidechain"`
	Timestamp   string   `json:"timestamp"`
	CostUSD     *float64 `json:"totalCostUSD"`   // of a cost-state: the sum over all resumes
	Mode        string   `json:"permissionMode"` // of type permission-mode
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

// costReach is how far from its end a transcript is searched for the last sum of its
// costs, in bytes. Claude writes it when it leaves; before 2.1.300 it wrote none.
const costReach = 1 << 18

// Context reads the level from a transcript. model is the recorded one, which alone knows
// of a [1m] window.
func (t File) Context(model agent.Model) (level Level, err error) {
	found := false
	err = t.lines(func(line []byte, behind int64) bool {
		var record transcriptRecord
		if found && !bytes.Contains(line, []byte(`"cost-state"`)) || json.Unmarshal(line, &record) != nil {
			return !found || behind < costReach
		}
		switch {
		case record.Type == "cost-state" && level.CostUSD == nil:
			level.CostUSD = record.CostUSD
		case found:
		case record.Type == "system" && record.Subtype == "compact_boundary":
			found, level.At = true, record.at()
		case record.replied():
			found, level.At = true, record.at()
			level.Tokens, level.Window = record.tokens(), window(record.Version, record.Message.Model, model)
		}
		return !found || level.CostUSD == nil && behind < costReach
	})
	return level, err
}

// tokens is how full the window was at a reply; 0 when the record does not tell.
func (r transcriptRecord) tokens() int {
	usage := r.Message.Usage
	tokens := usage.Input + usage.CacheCreation + usage.CacheRead
	if tokens < 0 || tokens >= tokenLimit {
		return 0
	}
	return tokens
}

// at is when the record was written; the zero time when it does not tell.
func (r transcriptRecord) at() time.Time {
	at, _ := time.Parse(time.RFC3339, r.Timestamp)
	return at.UTC()
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
	case VersionLess(version, 2, 1, 300):
		return small
	default:
		return large
	}
}

// LastCwd is the folder in which the conversation was last continued, or "".
func (t File) LastCwd() (cwd string, err error) {
	err = t.backward(func(record transcriptRecord) bool {
		cwd = record.Cwd
		return cwd == ""
	})
	return cwd, err
}

const backwardLimit = 16 << 20 // bytes of a transcript's end that are looked at

// backward calls visit with the records from the last to the first until it returns false.
// Lines that are no record, like one cut short, are passed over.
func (t File) backward(visit func(transcriptRecord) bool) error {
	return t.lines(func(line []byte, _ int64) bool {
		var record transcriptRecord
		return json.Unmarshal(line, &record) != nil || visit(record)
	})
}

// lines calls visit with the lines from the last to the first, and with how many bytes at
// most stand behind each, until it returns false.
func (t File) lines(visit func(line []byte, behind int64) bool) error {
	f, err := openRegular(t.Path)
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
			if !visit(lines[i], t.Size-at) {
				return nil
			}
		}
	}
	return nil
}
