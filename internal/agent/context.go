package agent

import (
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// The sources of [ContextUse] and [Cost].
const (
	SaysStatusLine = "status line" // Claude itself: exact
	SaysTranscript = "transcript"  // computed from the last reply: approximate
)

// ContextUse says how full a conversation's window is.
type ContextUse struct {
	Tokens      int
	Window      int // size of the window in tokens
	UsedPercent int // of the window, rounded; may be above 100
	Source      string
	At          time.Time // time of the measurement
}

// LeftPercent returns the remaining part of the window.
func (u ContextUse) LeftPercent() int { return max(0, 100-u.UsedPercent) }

// Cost is the cost of a conversation, as Claude counts it.
type Cost struct {
	USD    float64
	Source string
}

// GaugeOf returns what the status line reported about the record's conversation in the record's start; nil if it
// reported nothing.
func (r *Record) GaugeOf(report Report) *Gauge {
	if r.Process == nil || report.Invocation != r.Process.Invocation || report.SessionID != r.SessionID {
		return nil
	}
	return report.Gauge
}

// Context returns how full the window is, according to the status line; nil before the first reply.
func (g *Gauge) Context() *ContextUse {
	if g == nil || g.UsedPercent == nil || g.Window <= 0 {
		return nil
	}
	return &ContextUse{Tokens: g.Tokens, Window: g.Window, UsedPercent: *g.UsedPercent, Source: SaysStatusLine, At: g.At}
}

// Cost returns the cost of the conversation, according to the status line.
func (g *Gauge) Cost() *Cost {
	if g == nil {
		return nil
	}
	return &Cost{USD: g.CostUSD, Source: SaysStatusLine}
}

// Band is a word for how much of a window is left.
type Band string

// The bands, from much to little.
const (
	Healthy  Band = "healthy"
	Low      Band = "low"
	Critical Band = "critical"
	Floor    Band = "floor"
)

// Bands are the limits between the bands, in percent of the window left.
type Bands struct {
	Low      int // the highest percentage that is low; above it, the window is healthy
	Critical int // below it, it is critical
	Floor    int // below it, it is the floor
}

// DefaultBands are the bands of the runbooks.
var DefaultBands = Bands{Low: 25, Critical: 15, Floor: 10}

// ParseBands parses three falling percentages: "25,15,10". Errors: BadInput.
func ParseBands(text string) (Bands, error) {
	var limits [3]int
	parts := strings.Split(text, ",")
	above := 100
	for i := range limits {
		n := -1
		if len(parts) == len(limits) {
			n, _ = strconv.Atoi(strings.TrimSpace(parts[i]))
		}
		if n < 1 || n >= above {
			return Bands{}, fail.Errorf(fail.BadInput, "context bands %s are not three falling percentages below 100", human.Quote(text)).
				Hint("the default: 25,15,10")
		}
		limits[i], above = n, n
	}
	return Bands{Low: limits[0], Critical: limits[1], Floor: limits[2]}, nil
}

// Of returns the band for a percentage left.
func (b Bands) Of(left int) Band {
	switch {
	case left > b.Low:
		return Healthy
	case left >= b.Critical:
		return Low
	case left >= b.Floor:
		return Critical
	default:
		return Floor
	}
}
