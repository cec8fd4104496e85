package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Result is one run. It is what bench.json holds.
type Result struct {
	Taken   time.Time `json:"taken"`
	Machine Machine   `json:"machine"`
	Pairs   []Pair    `json:"pairs"`
	Checks  []Check   `json:"checks"`
	Verbs   []Verb    `json:"verbs"`
	Inits   Inits     `json:"inits"`
}

// Budget is how much more than its floor something may cost. The zero value is no budget.
type Budget struct {
	Times float64 `json:"times,omitempty"`   // of the floor's median
	Plus  float64 `json:"plus_ms,omitempty"` // milliseconds above it
}

// String is the budget as the design words it.
func (b Budget) String() string {
	switch {
	case b.Times > 0:
		return fmt.Sprintf("%g x", b.Times)
	case b.Plus > 0:
		return fmt.Sprintf("+ %g ms", b.Plus)
	}
	return ""
}

// Pair is something of ours next to its floor.
type Pair struct {
	Name   string `json:"name"`
	Beside string `json:"beside"` // what the floor is
	Agents int    `json:"agents,omitempty"`
	Floor  Stats  `json:"floor"`
	Ours   Stats  `json:"ours"`
	Budget Budget `json:"budget"`
}

// Ratio is that of the medians.
func (p Pair) Ratio() float64 { return p.Ours.Median / p.Floor.Median }

// Difference is that of the medians, in milliseconds.
func (p Pair) Difference() float64 { return p.Ours.Median - p.Floor.Median }

// Missed reports whether the budget is exceeded.
func (p Pair) Missed() bool {
	switch {
	case p.Budget.Times > 0:
		return p.Ratio() > p.Budget.Times
	case p.Budget.Plus > 0:
		return p.Difference() > p.Budget.Plus
	}
	return false
}

// Cost is how the pair compares.
func (p Pair) Cost() string { return fmt.Sprintf("%.2g x, %+.1f ms", p.Ratio(), p.Difference()) }

// Check is what was measured for a budget that is not a time.
type Check struct {
	Name     string `json:"name"`
	Measured string `json:"measured"`
	Budget   string `json:"budget"`
	Missed   bool   `json:"missed"`
}

// Verb is how many processes one call of a verb starts, besides its own.
type Verb struct {
	Name   string `json:"name"`
	Tmux   int    `json:"tmux"`   // runs of the tmux client
	Others int    `json:"others"` // every other process, also one that runs no program of its own
}

// Missed names the budgets that were not held.
func (r Result) Missed() []string {
	var missed []string
	for _, p := range r.Pairs {
		if p.Missed() {
			missed = append(missed, p.Name+size(p.Agents))
		}
	}
	for _, c := range r.Checks {
		if c.Missed {
			missed = append(missed, c.Name)
		}
	}
	return missed
}

func size(agents int) string {
	switch agents {
	case 0:
		return ""
	case 1:
		return ", 1 agent"
	}
	return ", " + thousands(agents) + " agents"
}

func thousands(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.Itoa(n)
}

func verdict(missed bool, budget string) string {
	switch {
	case budget == "":
		return "-"
	case missed:
		return "missed"
	}
	return "held"
}

// Save writes the result for Load.
func (r Result) Save(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("save result: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save result: %w", err)
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// Load reads what Save wrote.
func Load(path string) (Result, error) {
	var r Result
	data, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("load result: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("load result %s: %w", path, err)
	}
	return r, nil
}
