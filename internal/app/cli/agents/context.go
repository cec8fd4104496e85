package agents

import (
	"fmt"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/team/inspect"
)

func contextLine(f *ui.Factory, use *agent.ContextUse, bands agent.Bands) string {
	if use == nil {
		return "unknown"
	}
	left := use.LeftPercent()
	text := fmt.Sprintf("%d%% used, %d%% left (%s): %s of %s tokens", use.UsedPercent, left, bands.Of(left),
		human.Thousands(use.Tokens), human.Thousands(use.Window))
	if use.Source == agent.SaysStatusLine {
		text += "; says the status line"
	} else {
		text = "about " + text + "; from the " + use.Source
	}
	if !use.At.IsZero() {
		text += ", " + f.When(use.At)
	}
	return text
}

func costLine(cost *agent.Cost) string {
	switch {
	case cost == nil:
		return "unknown"
	case cost.Source == agent.SaysStatusLine:
		return dollars(cost) + ", says the status line"
	default:
		return dollars(cost) + " when Claude last wrote it; from the " + cost.Source
	}
}

func dollars(cost *agent.Cost) string { return fmt.Sprintf("$%.2f", cost.USD) }

func contextCell(use *agent.ContextUse, bands agent.Bands) ui.Cell {
	if use == nil {
		return ui.Text("")
	}
	left := use.LeftPercent()
	return ui.Cell{Text: strconv.Itoa(left) + "% left", Colour: bandColours[bands.Of(left)]}
}

var bandColours = map[agent.Band]string{agent.Healthy: ui.Plain, agent.Low: ui.Yellow, agent.Critical: ui.Red, agent.Floor: ui.Red}

// costCell formats a cost for a script.
func costCell(t *ui.Table, cost *agent.Cost) ui.Cell {
	switch {
	case cost == nil:
		return ui.Text("")
	case t.Streams.OutTTY:
		return ui.Text(dollars(cost))
	default:
		return ui.Text(strconv.FormatFloat(cost.USD, 'f', 2, 64))
	}
}

// usageCells returns the cells for an agent's processes: memory, processor time, bytes written.
func usageCells(t *ui.Table, u *machine.Usage) []ui.Cell {
	switch {
	case u == nil:
		return []ui.Cell{ui.Text(""), ui.Text(""), ui.Text("")}
	case t.Streams.OutTTY:
		return []ui.Cell{ui.Text(human.Bytes(u.RSS)), ui.Text(seconds(u.CPUSeconds)), ui.Text(human.Bytes(u.Written))}
	default:
		return []ui.Cell{ui.Text(strconv.FormatUint(u.RSS, 10)), ui.Text(strconv.FormatFloat(u.CPUSeconds, 'f', 2, 64)), ui.Text(strconv.FormatUint(u.Written, 10))}
	}
}

// seconds formats a measured time for people.
func seconds(s float64) string {
	const tenth = time.Second / 10
	return time.Duration(s * float64(time.Second)).Round(tenth).String()
}

// budgetLine formats what an agent with a budget has spent, and what follows when that is all.
func budgetLine(f *ui.Factory, v *inspect.View) string {
	spending := v.Spending
	if spending == nil {
		return string(v.Record.Budget) + "; what was spent cannot be read: nbs-worker cost"
	}
	line := spending.String() + " is spent; the next period begins " + f.When(spending.Ends)
	if spending.Over() {
		line += ". It gets no message until then"
	}
	return line
}
