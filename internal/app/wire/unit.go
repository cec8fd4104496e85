package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/export"
)

// Unit is a file for a service manager or a scheduler.
type Unit struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"` // where it was written
	Text string `json:"text"`
}

// NewUnits converts units with the paths they were written to; paths is nil if they were not written.
func NewUnits(units []export.Unit, paths []string) []Unit {
	out := agent.Mapped(units, func(u export.Unit) Unit { return Unit{Name: u.Name, Text: u.Text} })
	for i, path := range paths {
		out[i].Path = path
	}
	return out
}
