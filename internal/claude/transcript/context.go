package transcript

import (
	"bytes"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Level is how full a conversation is and what it cost, according to its transcript. It is approximate, and has no
// Tokens between a /compact and the next reply.
type Level struct {
	Tokens  int       // in the window at the last reply; 0: unknown
	Window  int       // size of the window
	At      time.Time // of the last reply, or of a compaction since
	CostUSD *float64  // when Claude last wrote it down; nil: not found
}

// Use returns how full the conversation is, or nil if that is not known.
func (l Level) Use() *agent.ContextUse {
	if l.Tokens <= 0 || l.Window <= 0 {
		return nil
	}
	percent := (l.Tokens*100 + l.Window/2) / l.Window
	return &agent.ContextUse{Tokens: l.Tokens, Window: l.Window, UsedPercent: percent, Source: agent.SaysTranscript, At: l.At}
}

// Cost returns what the conversation cost, or nil if that is not known.
func (l Level) Cost() *agent.Cost {
	if l.CostUSD == nil {
		return nil
	}
	return &agent.Cost{USD: *l.CostUSD, Source: agent.SaysTranscript}
}

// tokenLimit is larger than any window: Claude did not write such a number.
const tokenLimit = 1 << 40

// costReach is how many bytes at the end of a transcript are searched for the last sum of its costs. Claude writes it
// when it leaves; before 2.1.300 it wrote none.
const costReach = 1 << 18

// Context reads the level from a transcript. model is the recorded one: only that name shows a [1m] window.
func (t File) Context(model agent.Model) (level Level, err error) {
	found := false
	err = t.backward(func(line []byte, behind int64) bool {
		if found && (level.CostUSD != nil || behind >= costReach) {
			return false
		}
		var record conversationRecord
		if found && !bytes.Contains(line, []byte(`"cost-state"`)) || unmarshalRecord(line, &record) != nil {
			return true
		}
		switch {
		case record.Type == "cost-state" && level.CostUSD == nil:
			level.CostUSD = record.CostUSD
		case found:
		case record.compacted():
			found, level.At = true, record.at()
		case record.replied():
			message := record.message()
			found, level.At = true, record.at()
			level.Tokens, level.Window = message.tokens(), window(record.Version, message.Model, model)
		}
		return true
	})
	return level, err
}

// tokens returns how full the window was at a reply, or 0 if the record does not say.
func (m recordMessage) tokens() int {
	tokens := m.Usage.Input + m.Usage.CacheCreation + m.Usage.CacheRead
	if tokens < 0 || tokens >= tokenLimit {
		return 0
	}
	return tokens
}

// window returns the size of a model's context window. Up to 2.1.3xx it was 200,000
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

// LastCwd returns the folder in which the conversation was last continued, or "".
func (t File) LastCwd() (cwd string, err error) {
	err = t.eachBackward(func(record *conversationRecord) bool {
		cwd = record.Cwd
		return cwd == ""
	})
	return cwd, err
}
