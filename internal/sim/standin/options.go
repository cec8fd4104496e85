package standin

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// options are the parsed arguments.
type options struct {
	sessionID      string
	resume         string
	model          string
	permissionMode string
	allowedTools   string
	tools          string // ignored, like safeMode
	safeMode       bool
	settings       string
	bypass         bool // --dangerously-skip-permissions
	print          bool
	inputFormat    string
	outputFormat   string
	systemPrompt   string
	promptFile     string // of the system prompt
	partial        bool   // --include-partial-messages
	fork           bool   // --fork-session
	replay         bool   // --replay-user-messages
	verbose        bool
	name           string
	version        bool
	prompt         string
}

// usageError is an error of the arguments; its text is the real program's.
type usageError string

func (e usageError) Error() string { return string(e) }

// valued are the flags that take a value.
func (o *options) valued() map[string]*string {
	ignored := new(string)
	return map[string]*string{
		"--session-id": &o.sessionID, "--resume": &o.resume, "-r": &o.resume, "--model": &o.model,
		"--permission-mode": &o.permissionMode, "--settings": &o.settings, "--output-format": &o.outputFormat,
		"--name": &o.name, "-n": &o.name, "--input-format": &o.inputFormat,
		"--system-prompt": &o.systemPrompt, "--system-prompt-file": &o.promptFile,
		"--append-system-prompt": ignored, "--fallback-model": ignored, "--mcp-config": ignored,
		"--add-dir": ignored, "--allowedTools": &o.allowedTools, "--disallowedTools": ignored, "--max-turns": ignored,
		"--effort": ignored, "--setting-sources": ignored, "--tools": &o.tools,
	}
}

// switches are the flags that take none.
func (o *options) switches() map[string]*bool {
	return map[string]*bool{
		"--dangerously-skip-permissions": &o.bypass, "-p": &o.print, "--print": &o.print,
		"--version": &o.version, "-v": &o.version, "--verbose": &o.verbose,
		"--include-partial-messages": &o.partial, "--replay-user-messages": &o.replay, "--fork-session": &o.fork,
		"--safe-mode": &o.safeMode,
	}
}

func parseOptions(args []string, w whims) (options, error) {
	o := options{outputFormat: "text"}
	values, switches := o.valued(), o.switches()
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			o.prompt = strings.Join(args, " ")
			return o, o.check(w)
		case switches[arg] != nil:
			*switches[arg] = true
		case values[name] != nil && joined:
			*values[name] = value
		case values[name] != nil && len(args) > 0:
			*values[name], args = args[0], args[1:]
		case values[name] != nil:
			return o, usageError(fmt.Sprintf("error: option '%s <value>' argument missing", arg))
		case strings.HasPrefix(arg, "-"):
			return o, usageError(fmt.Sprintf("error: unknown option '%s'", arg))
		default:
			o.prompt = arg
		}
	}
	return o, o.check(w)
}

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func (o *options) check(w whims) error {
	if err := o.checkMode(w); err != nil {
		return err
	}
	switch {
	case o.sessionID != "" && o.resume != "" && !o.fork && w.old():
		return usageError("Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.")
	case o.sessionID != "" && o.resume != "" && !o.fork:
		return usageError("Error: --session-id with --continue or --resume also needs --fork-session.")
	case o.sessionID != "" && !uuidShape.MatchString(o.sessionID):
		return usageError("Error: Invalid session ID. Must be a valid UUID.")
	case o.print && o.resume != "" && !uuidShape.MatchString(o.resume):
		return usageError(fmt.Sprintf("Error: --resume requires a valid session ID or session title when used with --print. "+
			"Usage: claude -p --resume <session-id|title>. Provided value %q is not a UUID and does not match any session title.", o.resume))
	case o.print && o.outputFormat == streamJSON && !o.verbose:
		return usageError("Error: When using --print, --output-format=stream-json requires --verbose")
	}
	return o.readSystemPrompt()
}

func (o *options) readSystemPrompt() error {
	if o.promptFile == "" {
		return nil
	}
	data, err := os.ReadFile(o.promptFile)
	if err != nil {
		return usageError("Error: System prompt file not found: " + o.promptFile)
	}
	o.systemPrompt = string(data)
	return nil
}

// checkMode checks --permission-mode. "manual" and "default" are two names of one mode: each version prints only its
// own, and the newer one also takes the older name.
func (o *options) checkMode(w whims) error {
	allowed := []string{"acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"}
	if w.old() {
		allowed[3] = "default"
	}
	if o.permissionMode == "" || slices.Contains(allowed, o.permissionMode) || o.permissionMode == "default" {
		return nil
	}
	return usageError(fmt.Sprintf("error: option '--permission-mode <mode>' argument '%s' is invalid. Allowed choices are %s.",
		o.permissionMode, strings.Join(allowed, ", ")))
}

// allows reports whether --allowedTools permits a command: Bash, or Bash(BEGINNING *).
func (o *options) allows(command string) bool {
	for rule := range strings.SplitSeq(o.allowedTools, ",") {
		beginning, some := strings.CutPrefix(strings.TrimSuffix(rule, "*)"), "Bash(")
		if rule == "Bash" || some && strings.HasPrefix(command, beginning) {
			return true
		}
	}
	return false
}

func (o *options) bypasses() bool { return o.bypass || o.permissionMode == "bypassPermissions" }

// settings is the part of a settings file that matters here.
type settings struct {
	SkipBypassPrompt bool                   `json:"skipDangerousModePermissionPrompt"`
	Hooks            map[string][]hookGroup `json:"hooks"`
	StatusLine       struct {
		Command string `json:"command"`
	} `json:"statusLine"`
}

type hookGroup struct {
	Hooks []struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // seconds
	} `json:"hooks"`
}

// loadSettings reads --settings, which is a path or inline JSON.
func loadSettings(value string) (settings, error) {
	var s settings
	if value == "" {
		return s, nil
	}
	data := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		var err error
		if data, err = os.ReadFile(value); err != nil {
			return s, usageError("Error: Settings file not found: " + value)
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, usageError("Error: Invalid JSON provided to --settings")
	}
	return s, nil
}
