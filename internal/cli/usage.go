package cli

import (
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
)

// usage are the cells of what an agent's processes use: memory, processor time, bytes written.
func (t *table) usage(u *proc.Usage) []cell {
	switch {
	case u == nil:
		return []cell{text(""), text(""), text("")}
	case t.streams.OutTTY:
		return []cell{text(agent.Bytes(u.RSS)), text(seconds(u.CPUSeconds)), text(agent.Bytes(u.Written))}
	default:
		return []cell{text(strconv.FormatUint(u.RSS, 10)), text(strconv.FormatFloat(u.CPUSeconds, 'f', 2, 64)), text(strconv.FormatUint(u.Written, 10))}
	}
}

// seconds is a time that was measured, as people read it.
func seconds(s float64) string {
	const tenth = time.Second / 10
	return time.Duration(s * float64(time.Second)).Round(tenth).String()
}
