package live

import (
	"errors"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
)

// StatusLine holds the used fields of claude's input to its status line.
type StatusLine struct {
	Text []byte `json:"-"` // all of it

	SessionID agent.SessionID `json:"session_id"`

	Model struct {
		ID string `json:"id"`
	} `json:"model"`
	Cost struct {
		TotalUSD float64 `json:"total_cost_usd"`
	} `json:"cost"`
	ContextWindow struct {
		Size         int      `json:"context_window_size"`
		UsedPercent  *float64 `json:"used_percentage"` // nil: no reply yet
		CurrentUsage *struct {
			Input         int `json:"input_tokens"`
			CacheCreation int `json:"cache_creation_input_tokens"`
			CacheRead     int `json:"cache_read_input_tokens"`
		} `json:"current_usage"`
	} `json:"context_window"`

	// Newer parts, read on their own: one of another form does not hide the gauge.
	RateLimits jsontext.Value `json:"rate_limits"`
	PR         jsontext.Value `json:"pr"`
	InWorktree jsontext.Value `json:"worktree"`
}

// ReadStatusLine reads what claude writes to a status line.
func ReadStatusLine(in io.Reader) (StatusLine, error) {
	var line StatusLine
	text, err := readInput(in, &line)
	line.Text = text
	if err == nil && !line.plausible() {
		err = errors.New("the numbers are not those of a conversation")
	}
	return line, err
}

// plausible refuses numbers that no conversation reaches: they are added up, and shown in tables.
func (l StatusLine) plausible() bool {
	const tokens, dollars = 1 << 40, 1e9
	window := l.ContextWindow
	if usage := window.CurrentUsage; usage != nil && max(usage.Input, usage.CacheCreation, usage.CacheRead) > tokens {
		return false
	}
	return window.Size <= tokens && l.Cost.TotalUSD <= dollars
}

// Gauge returns how full the conversation is.
func (l StatusLine) Gauge(at time.Time) agent.Gauge {
	gauge := agent.Gauge{Window: max(0, l.ContextWindow.Size), CostUSD: max(0, l.Cost.TotalUSD), At: at, Since: at}
	if model, err := agent.ParseModel(l.Model.ID); err == nil { // it is shown in tables
		gauge.Model = model
	}
	if usage := l.ContextWindow.CurrentUsage; usage != nil {
		gauge.Tokens = max(0, usage.Input) + max(0, usage.CacheCreation) + max(0, usage.CacheRead)
	}
	if used := l.ContextWindow.UsedPercent; used != nil {
		percent := int(min(100, max(0, *used)))
		gauge.UsedPercent = &percent
	}
	return gauge
}
