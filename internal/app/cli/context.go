package cli

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
)

// How context use, cost and resource use are shown.

const bandsVariable = "NBS_CONTEXT_BANDS"

// contextBands returns the limits from the environment, or the default ones. Errors: BadInput.
func contextBands() (agent.Bands, error) {
	text := os.Getenv(bandsVariable)
	if text == "" {
		return agent.DefaultBands, nil
	}
	bands, err := agent.ParseBands(text)
	if err != nil {
		return bands, fmt.Errorf("%s: %w", bandsVariable, err)
	}
	return bands, nil
}

func (f *factory) contextLine(use *agent.ContextUse, bands agent.Bands) string {
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
		text += ", " + f.when(use.At)
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
		return dollars(cost) + " when Claude wrote it down last; from the " + cost.Source
	}
}

func dollars(cost *agent.Cost) string { return fmt.Sprintf("$%.2f", cost.USD) }

func contextCell(use *agent.ContextUse, bands agent.Bands) cell {
	if use == nil {
		return text("")
	}
	left := use.LeftPercent()
	return cell{text: strconv.Itoa(left) + "% left", colour: bandColours[bands.Of(left)]}
}

var bandColours = map[agent.Band]string{agent.Healthy: plain, agent.Low: yellow, agent.Critical: red, agent.Floor: red}

// cost formats a cost for a script.
func (t *table) cost(cost *agent.Cost) cell {
	switch {
	case cost == nil:
		return text("")
	case t.streams.OutTTY:
		return text(dollars(cost))
	default:
		return text(strconv.FormatFloat(cost.USD, 'f', 2, 64))
	}
}

// usage returns the cells for an agent's processes: memory, processor time, bytes written.
func (t *table) usage(u *machine.Usage) []cell {
	switch {
	case u == nil:
		return []cell{text(""), text(""), text("")}
	case t.streams.OutTTY:
		return []cell{text(human.Bytes(u.RSS)), text(seconds(u.CPUSeconds)), text(human.Bytes(u.Written))}
	default:
		return []cell{text(strconv.FormatUint(u.RSS, 10)), text(strconv.FormatFloat(u.CPUSeconds, 'f', 2, 64)), text(strconv.FormatUint(u.Written, 10))}
	}
}

// seconds formats a measured time for people.
func seconds(s float64) string {
	const tenth = time.Second / 10
	return time.Duration(s * float64(time.Second)).Round(tenth).String()
}
