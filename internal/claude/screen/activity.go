package screen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Claude shows what it is doing right above the input box, after a turning star.

var (
	// spinning is the line of a working claude: "✶ Coalescing… (2s · ↓ 3 tokens)". Its verb is chosen at random.
	spinning = pattern(`^[·✢✳✶✻✽*] \S.*… (\(.*|[▰▱]+ \d+%)$`)
	// beginning is the form of that line in the first second.
	beginning = pattern(`^[·✢✳✶✻✽*] \S.*…$`)
	retrying  = pattern(`^[·✢✳✶✻✽*] .* · [Rr]etrying(?:…| in (?:(\d{1,4})m ?)?(\d{1,4})s) · attempt (\d{1,4})/(\d{1,4})$`)
	finished  = pattern(`^[·✢✳✶✻✽*] \S+ for [0-9hms ]+( · .*)?$`)
)

var stars = []string{"·", "✢", "✳", "✶", "✻", "✽", "*"}

// read returns the state of a claude whose input box is on the screen.
func (b box) read() Reading {
	head, rest := lastItem(b.above)
	line := wrapped(head, rest)
	if m := retrying().FindStringSubmatch(line); m != nil {
		return Reading{State: agent.Retrying, Retry: retryOf(m[1], m[2], m[3], m[4])}
	}
	switch interruptible := b.interruptible(); {
	case spinning().MatchString(line), beginning().MatchString(line) && interruptible:
		return Reading{State: agent.Busy}
	case beginning().MatchString(line), interruptible:
		return Reading{State: agent.Unknown} // between two states
	default:
		return Reading{State: agent.Idle, Trouble: b.trouble()}
	}
}

// lastItem returns the last line at the left edge, and the lines below it. On a narrow terminal 2.1.197 puts the star
// on a line of its own.
func lastItem(lines []string) (head string, rest []string) {
	for i := len(lines) - 1; i >= 0; i-- {
		if isInner(lines[i]) {
			continue
		}
		if i > 0 && slices.Contains(stars, lines[i-1]) {
			return lines[i-1] + " " + lines[i], lines[i+1:]
		}
		return lines[i], lines[i+1:]
	}
	return "", lines
}

// wrapped joins a line with the lines below it onto which a narrow terminal has wrapped it.
func wrapped(head string, rest []string) string {
	end := slices.IndexFunc(rest, func(line string) bool { return strings.HasPrefix(line, "  ⎿") || strings.HasPrefix(line, "  ❯") })
	if end < 0 {
		end = len(rest)
	}
	return strings.TrimSuffix(head+" "+joined(rest[:end]), " ")
}

func retryOf(minutes, seconds, attempt, of string) *agent.Retry {
	m, _ := strconv.Atoi(minutes) // only digits, or ""
	s, _ := strconv.Atoi(seconds)
	retry := agent.Retry{In: time.Duration(m)*time.Minute + time.Duration(s)*time.Second}
	retry.Attempt, _ = strconv.Atoi(attempt)
	retry.Of, _ = strconv.Atoi(of)
	return &retry
}

// interruptible reports whether claude's own line of the footer offers to interrupt it. A
// missing offer proves nothing: a status line, a narrow terminal and 2.1.197 leave it out.
func (b box) interruptible() bool {
	return slices.ContainsFunc(b.footer, func(line string) bool {
		if mode := strings.TrimPrefix(line, "  "); strings.HasPrefix(mode, "⏵⏵ ") || strings.HasPrefix(mode, "⏸ ") {
			return strings.Contains(mode, " · esc to interrupt")
		}
		return strings.HasPrefix(line, "  esc to interrupt")
	})
}

// trouble returns why the last turn failed, if that is certain.
func (b box) trouble() Trouble {
	if b.saysNotLoggedIn() {
		return TroubleNotLoggedIn
	}
	head, rest := lastItem(b.above)
	done := finished().MatchString(head)
	if done {
		head, rest = lastItem(b.above[:len(b.above)-len(rest)-1])
	}
	if strings.HasPrefix(head, "❯ ") && endsWithNote(rest, "Context limit reached · /compact or /clear to continue") {
		return TroubleContextFull
	}
	if done || !b.offersToResend() { // 2.1.329 shows no duration for a turn that failed
		return ""
	}
	switch said := wrapped(head, rest); {
	case strings.HasPrefix(head, "❯ ") && endsWithNote(rest, "Not logged in · Please run /login"):
		return TroubleNotLoggedIn
	case strings.HasPrefix(said, "● Please run /login · API Error: "):
		return TroubleAuth
	case strings.HasPrefix(said, "● API Error: "):
		return TroubleAPI
	}
	return ""
}

// Refused reports whether the last message on a screen says that a hook has refused a prompt.
func Refused(screen, prompt string) bool {
	box, _ := findBox(screenLines(screen))
	head, rest := lastItem(box.above)
	said := Dense(wrapped(head, rest))
	return strings.HasPrefix(said, Dense("● UserPromptSubmit operation blocked by hook")) && strings.HasSuffix(said, Dense("Original prompt: "+prompt))
}

// offersToResend recognizes the text that 2.1.329 writes into an empty box after a failure.
func (b box) offersToResend() bool {
	hint := wrapped(b.text[0], b.text[1:])
	return hint == "❯ Once fixed, resend your message" || hint == "❯ Resend your message to try again"
}

// endsWithNote reports whether the last note below an item begins with these words.
func endsWithNote(lines []string, words string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		note, is := strings.CutPrefix(lines[i], "  ⎿  ")
		if !is {
			continue
		}
		return strings.HasPrefix(note+" "+joined(lines[i+1:]), words)
	}
	return false
}

// saysNotLoggedIn reports whether claude says beside its box that no user is logged in. Claude looks idle then and
// answers no prompt. Versions to 2.1.329 say so in the footer, 2.1.329 only for the first seconds. 2.1.332 says so right
// above the box, some 20 seconds after its start, at the right, where no text begins.
func (b box) saysNotLoggedIn() bool {
	const words, indent = "not logged in · run /login", "            " // in 40 columns, the narrowest terminal
	if n := len(b.above); n > 0 && strings.HasPrefix(b.above[n-1], indent) && strings.ToLower(strings.TrimSpace(b.above[n-1])) == words {
		return true
	}
	return slices.ContainsFunc(b.footer, func(line string) bool { return strings.HasSuffix(strings.ToLower(line), words) })
}

// unwritable is the message of newer versions in their footer until a write has succeeded again. 2.1.197 shows none.
var unwritable = pattern(`⚠ Transcript writes are failing(?: \(([^)]*)\))?`)

// unsaved returns why the conversation is not saved.
func (b box) unsaved() string {
	m := unwritable().FindStringSubmatch(joined(b.footer))
	if m == nil {
		return ""
	}
	return cmp.Or(m[1], "it does not say why")
}
