package screen

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A dialog takes the place of the input box. The screen ends with its answers, and mostly a line that names its keys.
// Quoted text is above the answers.

// footerLines is the number of lines over which a narrow terminal may spread the line of a dialog's keys.
const footerLines = 6

// keys are the lines that name a dialog's keys, and which dialogs have them.
var keys = []struct {
	line func() *regexp.Regexp
	of   func(body []string) Dialog
}{
	{pattern(`^Esc to cancel · Tab to amend( · ctrl\+e to (explain|hide))?$`), permission},
	{pattern(`^Enter to select · .*↑/↓ to navigate( · .*)? · Esc to cancel$`), question},
	{pattern(`^Enter to select · Tab/Arrow keys to navigate( · .*)? · Esc to cancel$`), question},
	{pattern(`^(Space to select · )?Enter to confirm · Esc to [a-z]+( all)?$`), firstRunOrMenu},
	{pattern(`^Space to select · Esc to reject all$`), firstRunOrMenu},
	{pattern(`^Enter to stay in auto mode · .*Esc to cancel$`), func([]string) Dialog { return DialogAutoMode }},
	{pattern(`^Ctrl\+A to show all projects · .*(Esc to (cancel|close|clear|exit))$`), resumePicker},
	{pattern(`^Press Enter to continue…?$`), securityNotes},
	{pattern(`^.*(Enter|Space|←|↑|↓|Tab).* · Esc to (cancel|clear|close|exit|go back)$`), menu},
}

// findDialog returns the dialog at the end of the screen, or "", and its lines without the line of its keys. A rule
// of the box that carries the session's name stays below the dialog.
func findDialog(lines []string) (dialog Dialog, body []string) {
	if n := len(lines); n > 0 && isRule(lines[n-1]) && strings.Trim(lines[n-1], "─") != "" {
		lines = lines[:n-1]
	}
	for _, known := range keys {
		for n := 1; n <= min(footerLines, len(lines)-1); n++ {
			if known.line().MatchString(joined(lines[len(lines)-n:])) {
				body = lines[:len(lines)-n]
				return known.of(body), body
			}
		}
	}
	if dialog := permission(lines); dialog != "" { // that of WebFetch names no keys
		return dialog, lines
	}
	return unkeyed(lines), lines
}

func joined(lines []string) string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	return strings.Join(trimmed, " ")
}

// permission recognizes the answers to "Do you want to proceed?" and similar questions.
func permission(body []string) Dialog {
	if n := len(body); n > 0 && moreLines().MatchString(body[n-1]) {
		body = body[:n-1]
	}
	answers, above := numbered(body)
	if len(answers) < 2 || len(above) == 0 {
		return ""
	}
	for n := 1; n <= min(footerLines, len(above)); n++ {
		if asked := joined(above[len(above)-n:]); strings.HasPrefix(asked, "Do you want to ") || strings.HasPrefix(asked, "Would you like to ") {
			return DialogPermission
		}
	}
	return ""
}

var moreLines = pattern(`^ ↑ \d+ more lines?$`)

// question recognizes the answers that the model offers.
func question(body []string) Dialog {
	if answers, _ := numbered(body); len(answers) > 0 {
		return DialogQuestion
	}
	return menu(body)
}

var numberedAnswer = pattern(`^( {0,3}❯ | {2,5})(\d{1,2})\. *(.*)$`)

// numbered reads the answers at the end of a dialog, and the lines above them. The answers count from 1, and one has
// the cursor.
func numbered(body []string) (answers, above []string) {
	cursors := 0
	expected := 0 // 0: any
	for i := len(body) - 1; i >= 0; i-- {
		m := numberedAnswer().FindStringSubmatch(body[i])
		if m == nil {
			if !isInner(body[i]) && !isRule(body[i]) {
				return nil, nil
			}
			continue // a description, a longer answer, or a rule between answers
		}
		number, _ := strconv.Atoi(m[2])
		if expected != 0 && number != expected {
			return nil, nil
		}
		if strings.Contains(m[1], "❯") {
			cursors++
		}
		answers = append(answers, m[3])
		if expected = number - 1; expected == 0 {
			if cursors != 1 {
				return nil, nil
			}
			return answers, body[:i]
		}
	}
	return nil, nil
}

// ownAnswers are the answers that identify a first-run dialog, however narrow the
// terminal. The dialogs of login and onboarding have other answers in each version.
var ownAnswers = []struct {
	answer string
	dialog Dialog
}{
	{"Yes, I trust this folder", DialogTrust},
	{"Yes, add it", DialogAddDir},
	{"No (recommended)", DialogAPIKey},
	{"Yes, I accept", DialogBypass},
	{"Reset to default configuration", DialogConfig},
	{"Reset with default configuration", DialogConfig}, // of 2.1.197
	{"Fix with Claude", DialogSettings},
	{"Continue without using this MCP server", DialogMCP},
	{"No, disable external imports", DialogImports},
}

// firstRunOrMenu identifies a dialog by its answers.
func firstRunOrMenu(body []string) Dialog {
	answers, _ := choicesIn(DialogOther, body)
	for _, own := range ownAnswers {
		if slices.Contains(answers, own.answer) {
			return own.dialog
		}
	}
	if dialog := unkeyed(body); dialog != "" {
		return dialog
	}
	return menu(body)
}

func resumePicker(body []string) Dialog {
	if slices.ContainsFunc(sinceRule(body), func(line string) bool { return strings.HasPrefix(line, "  Resume session") }) {
		return DialogResume
	}
	return menu(body)
}

// securityNotes recognizes the second page of the onboarding.
func securityNotes(body []string) Dialog {
	if slices.Contains(body, " Security notes:") {
		return DialogOnboarding
	}
	return ""
}

// menu finds a dialog below a rule. Only its keys are known.
func menu(body []string) Dialog {
	if len(sinceRule(body)) < len(body) {
		return DialogOther
	}
	return ""
}

// sinceRule returns the lines below the last rule, or all lines if there is no rule.
func sinceRule(lines []string) []string {
	for i := len(lines) - 1; i >= 0; i-- {
		if isRule(lines[i]) || strings.HasPrefix(lines[i], "▔▔▔▔▔▔▔▔▔▔") {
			return lines[i+1:]
		}
	}
	return lines
}

// titles identify the dialogs that do not always name their keys.
var titles = []struct {
	words  string
	dialog Dialog
}{
	{"Select login method", DialogLogin},
	{"Claude Code can be used with your Claude subscription", DialogLogin},
	{"Let's get started.", DialogOnboarding},
	{"new MCP servers found in this", DialogMCP},
}

// unkeyed recognizes a dialog by its title, if an answer below it has the cursor.
func unkeyed(lines []string) Dialog {
	for _, known := range titles {
		for i, line := range sinceRule(lines) {
			if strings.HasPrefix(strings.TrimLeft(line, " 0123456789"), known.words) && !strings.HasPrefix(line, "   ") &&
				slices.ContainsFunc(sinceRule(lines)[i+1:], hasCursor) {
				return known.dialog
			}
		}
	}
	return ""
}

func hasCursor(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "❯ ") }
