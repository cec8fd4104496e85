package dash

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"nbs-worker/internal/human"
)

// column is a column of the table.
type column struct {
	name   string
	of     func(*Model, *Row) string
	width  int // negative: up to the end of the line
	colour func(*Row) string
}

// The widths of the screen from which on it has more columns.
const (
	showsCost    = 60
	showsMachine = 120
	showsBranch  = 150
)

// columns are those for the width of the screen.
func (m *Model) columns() []column {
	all := []column{
		{name: "HANDLE", of: func(_ *Model, r *Row) string { return string(r.Handle) }, width: m.widest(6, 24, func(r *Row) string { return string(r.Handle) })},
		{name: "NEED", of: func(_ *Model, r *Row) string { return r.reason() }, width: 5, colour: reasonColour},
		{name: "STATE", of: (*Model).state, width: 8},
		{name: "SINCE", of: (*Model).since, width: 5},
	}
	if m.Width >= showsCost {
		all = append(all,
			column{name: "CONTEXT", of: func(_ *Model, r *Row) string { return r.context() }, width: 7, colour: bandColour},
			column{name: "COST", of: func(_ *Model, r *Row) string { return r.cost() }, width: m.widest(6, 9, (*Row).cost)})
	}
	if width := m.jobWidth(); width > 0 {
		all = append(all, column{name: "JOB", of: func(_ *Model, r *Row) string { return r.Job }, width: width})
	}
	if m.Width >= showsMachine {
		all = append(all,
			column{name: "MODEL", of: func(_ *Model, r *Row) string { return r.Model }, width: m.widest(6, 16, func(r *Row) string { return r.Model })},
			column{name: "MEMORY", of: (*Model).memory, width: 7},
			column{name: "CPU", of: (*Model).cpu, width: 4})
	}
	if m.Width >= showsBranch {
		for _, c := range []column{
			{name: "BRANCH", of: func(_ *Model, r *Row) string { return r.Branch }, width: m.widest(0, 24, func(r *Row) string { return r.Branch })},
			{name: "PULL REQUEST", of: func(_ *Model, r *Row) string { return r.Pull }, width: m.widest(0, 24, func(r *Row) string { return r.Pull })},
		} {
			if c.width > 0 {
				c.width = max(c.width, len(c.name))
				all = append(all, c)
			}
		}
	}
	return append(all, column{name: "WHAT", of: (*Model).what, width: -1})
}

// widest returns the width of the widest cell, within bounds.
func (m *Model) widest(least, most int, of func(*Row) string) int {
	for i := range m.sight.Rows {
		least = max(least, min(ansi.StringWidth(of(&m.sight.Rows[i])), most))
	}
	return least
}

// beside returns cells beside each other.
func beside(columns []column, cells []string) string {
	var line strings.Builder
	for i, c := range columns {
		if c.width < 0 {
			line.WriteString(cells[i])
			continue
		}
		cell := ansi.Truncate(cells[i], c.width, "…")
		line.WriteString(cell + strings.Repeat(" ", c.width-ansi.StringWidth(cell)) + "  ")
	}
	return line.String()
}

// jobWidth returns the width of the jobs of Slurm: 0 if there are none, or no room.
func (m *Model) jobWidth() int {
	const running = len("123 RUNNING on n12") // why another one waits may be longer
	most := running
	if m.Width >= showsMachine {
		most = 2 * running
	}
	width := m.widest(0, most, func(r *Row) string { return r.Job })
	if width == 0 || m.Width < showsCost {
		return 0
	}
	return max(width, len("JOB"))
}

func (r *Row) reason() string {
	if r.Need == nil {
		return ""
	}
	return string(r.Need.Reason)
}

// state returns the state, or the verb that runs.
func (m *Model) state(r *Row) string {
	if verb := m.running[r.Who]; verb != "" {
		return verb + "…"
	}
	return r.State
}

func (m *Model) since(r *Row) string {
	if r.Need != nil {
		return m.age(r.Need.Since)
	}
	return m.age(r.Since)
}

func (r *Row) context() string {
	if r.Left < 0 {
		return ""
	}
	return bar(r.Left) + fmt.Sprintf("%3d%%", r.Left)
}

// bar draws what is left of the context in three characters.
func bar(left int) string {
	const cells, full = 3, 100
	n := (min(left, full)*cells + full - 1) / full
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n)
}

func (r *Row) cost() string {
	if r.Cost < 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", r.Cost)
}

// used returns what an agent uses of its machine; nil: unknown.
func (m *Model) used(r *Row) *Usage {
	if used, known := m.usage[r.Who]; known {
		return &used
	}
	return r.Usage
}

func (m *Model) memory(r *Row) string {
	if used := m.used(r); used != nil {
		return human.Bytes(used.Memory)
	}
	return ""
}

func (m *Model) cpu(r *Row) string {
	if used := m.used(r); used != nil && used.CPU >= 0 {
		return fmt.Sprintf("%.0f%%", used.CPU)
	}
	return ""
}

func (m *Model) what(r *Row) string {
	if m.running[r.Who] != "" {
		return ""
	}
	return r.What
}

// ShowsUsage reports whether the screen shows what agents use of the machine.
func (m *Model) ShowsUsage() bool { return m.Width >= showsMachine }
