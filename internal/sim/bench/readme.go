package bench

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// What stands between the markers is written by make bench-readme.
const (
	openMarker  = "<!-- bench -->\n"
	closeMarker = "<!-- /bench -->\n"
)

// Markdown is the result as the README shows it.
func (r Result) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %s, taken %s on %s.\n\n", samples(r.Pairs), r.Taken.Format("2006-01-02"), r.Machine)
	b.WriteString("| what | agents | floor | its ms | our ms | cost | budget | |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range r.Pairs {
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %.1f | %s | %s | %s |\n", p.Name, agentsColumn(p.Agents), p.Beside, p.Floor.Median, p.Ours.Median,
			p.Cost(), dash(p.Budget.String()), verdict(p.Missed(), p.Budget.String()))
	}
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "| %s | - | - | - | %s | - | %s | %s |\n", c.Name, c.Measured, dash(c.Budget), verdict(c.Missed, c.Budget))
	}
	r.writeGrowth(&b)
	r.writeVerbs(&b)
	return b.String()
}

func (r Result) writeGrowth(b *strings.Builder) {
	var parts []string
	for _, g := range r.Growth() {
		parts = append(parts, fmt.Sprintf("%s %.0f (its floor %.0f)", g.Name, g.Ours, g.Floor))
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "\nMicroseconds for each further agent: %s.\n", strings.Join(parts, ", "))
	}
}

func (r Result) writeVerbs(b *strings.Builder) {
	var parts []string
	for _, v := range r.Verbs {
		parts = append(parts, fmt.Sprintf("`%s` %d + %d", v.Name, v.Tmux, v.Others))
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "\nProcesses that one call starts, runs of tmux and others, launcher and claude included: %s.\n", strings.Join(parts, ", "))
	}
}

// samples says how many were taken, from the fewest to the most.
func samples(pairs []Pair) string {
	least, most := 0, 0
	for i, p := range pairs {
		if n := p.Ours.Samples; i == 0 || n < least {
			least = n
		}
		most = max(most, p.Ours.Samples)
	}
	if least == most {
		return fmt.Sprintf("%d samples", least)
	}
	return fmt.Sprintf("%d to %d samples", least, most)
}

// PutInto replaces what a file has between the markers.
func (r Result) PutInto(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := between(string(data), r.Markdown())
	if err != nil {
		return fmt.Errorf("write the table into %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func between(text, block string) (string, error) {
	before, rest, opened := strings.Cut(text, openMarker)
	_, after, closed := strings.Cut(rest, closeMarker)
	if !opened || !closed {
		return "", errors.New("the markers <!-- bench --> and <!-- /bench --> are not there")
	}
	return before + openMarker + "\n" + block + "\n" + closeMarker + after, nil
}
