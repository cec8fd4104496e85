package standin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultVersion is the version that is imitated unless version= says otherwise.
const DefaultVersion = "2.1.332"

// whims are the misbehaviours asked for. See the package comment.
type whims struct {
	startDelay, dieAfter, stopDelay time.Duration
	drawDelay, resizeDelay          time.Duration
	lateTranscript, leaderDies      time.Duration
	stopGate                        string
	dieCode                         int
	refuseTerm                      bool
	dialog                          string
	noRegistry, noTranscript        bool
	noHooks                         bool
	wrongSessionID                  bool
	printError                      string
	spawnChild                      bool
	newIDs                          bool
	dieInTurn                       string
	version                         string
}

func parseWhims(text string) (whims, error) {
	w := whims{dieCode: 1, version: DefaultVersion}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if err := w.set(name, value); err != nil {
			return w, fmt.Errorf("NBS_SIM_CLAUDE: %q: %w", part, err)
		}
	}
	return w, nil
}

func (w *whims) set(name, value string) (err error) {
	switch name {
	case "start-delay":
		w.startDelay, err = time.ParseDuration(value)
	case "draw-delay":
		w.drawDelay, err = time.ParseDuration(value)
	case "resize-delay":
		w.resizeDelay, err = time.ParseDuration(value)
	case "die-after":
		w.dieAfter, err = time.ParseDuration(value)
	case "stop-delay":
		w.stopDelay, err = time.ParseDuration(value)
	case "stop-gate":
		w.stopGate = value
	case "late-transcript":
		w.lateTranscript, err = time.ParseDuration(value)
	case leaderDies:
		w.leaderDies, err = time.ParseDuration(value)
	case "die-code":
		w.dieCode, err = strconv.Atoi(value)
	case "dialog":
		w.dialog = value
		if !knownDialog(value) {
			err = errors.New("no such dialog")
		}
	case "die-in-turn":
		w.dieInTurn = value
		if !slices.Contains([]string{"heard", "asked", "answered"}, value) {
			err = errors.New("heard, asked or answered")
		}
	case "print-error":
		w.printError = value
	case "version":
		w.version = value
	default:
		err = w.setSwitch(name)
	}
	return err
}

func (w *whims) setSwitch(name string) error {
	switches := map[string]*bool{
		"refuse-term":      &w.refuseTerm,
		"no-registry":      &w.noRegistry,
		"no-transcript":    &w.noTranscript,
		"no-hooks":         &w.noHooks,
		"wrong-session-id": &w.wrongSessionID,
		"spawn-child":      &w.spawnChild,
		"new-ids":          &w.newIDs,
	}
	target, known := switches[name]
	if !known {
		return errors.New("unknown directive")
	}
	*target = true
	return nil
}

// old reports whether 2.1.197 is imitated rather than 2.1.332.
func (w whims) old() bool {
	var major, minor, patch int
	if _, err := fmt.Sscanf(w.version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return false
	}
	return major < 2 || major == 2 && (minor < 1 || minor == 1 && patch <= 200)
}
