package claude

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// OwnSettingsLimit is the size of an agent's own settings, in bytes: they are one word of claude's command line.
const OwnSettingsLimit = 32 << 10

// whyRefused returns why an agent's own settings cannot set a name, or "".
func whyRefused(name string) string {
	switch name {
	case "model":
		return "give it as the agent's model"
	case "disableAllHooks", "allowManagedHooksOnly":
		return "nbs-worker needs claude's hooks"
	case "statusLine":
		return "nbs-worker sets it, and calls the one of Claude's settings files"
	case "editorMode", "axScreenReader", "skipDangerousModePermissionPrompt":
		return "nbs-worker sets it"
	case "cleanupPeriodDays":
		return "it deletes conversations of all projects; set it in Claude's settings files"
	}
	return ""
}

// ParseSettings checks an agent's own settings, which are an object in Claude's language, and returns them in one
// form: the same settings have the same text. Errors: BadInput.
func ParseSettings(text string) (string, error) {
	if len(text) > OwnSettingsLimit {
		return "", fail.Errorf(fail.BadInput, "settings: there are more than %d bytes", OwnSettingsLimit)
	}
	value := jsontext.Value(text)
	if err := value.Canonicalize(); err != nil {
		return "", fail.Errorf(fail.BadInput, "settings: it is no JSON: %w", err)
	}
	if value.Kind() != '{' {
		return "", fail.Errorf(fail.BadInput, "settings: an object belongs here, such as {\"alwaysThinkingEnabled\": true}")
	}
	var read ownSettings
	if err := json.Unmarshal(value, &read); err != nil {
		return "", fail.Errorf(fail.BadInput, "settings: Claude does not read it: %w", err)
	}
	return string(value), read.check()
}

// ownSettings are the settings of an agent that are joined with ours.
type ownSettings struct {
	Hooks       map[string][]jsontext.Value `json:"hooks"`
	Permissions ownPermissions              `json:"permissions"`
	Env         map[string]string           `json:"env,omitempty"`
	Rest        map[string]jsontext.Value   `json:",embed"`
}

type ownPermissions struct {
	Deny []string                  `json:"deny"`
	Rest map[string]jsontext.Value `json:",embed"`
}

func (s *ownSettings) check() error {
	for _, name := range slices.Sorted(maps.Keys(s.Rest)) {
		if why := whyRefused(name); why != "" {
			return fail.Errorf(fail.BadInput, "settings: %s cannot be set for an agent: %s", name, why)
		}
	}
	if _, given := s.Permissions.Rest["defaultMode"]; given {
		return fail.Errorf(fail.BadInput, "settings: permissions.defaultMode cannot be set for an agent: give it as the agent's permission mode")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if agent.NamesSecret(name) {
			return fail.Errorf(fail.BadInput, "settings: env %s: the record would keep a secret", name).
				Hint("export %s in your shell instead: claude gets it from there, and the record does not keep it", name)
		}
	}
	if err := CheckEnv(s.Env); err != nil {
		return fail.Errorf(fail.BadInput, "settings: env: %w", err)
	}
	return nil
}

// JoinSettings returns our settings with an agent's own, which [ParseSettings] has checked. Hooks and rules that deny
// are joined. What both set is as in ours, except for what claude does by itself. "" stands for no settings.
func JoinSettings(ours, own string) (string, error) {
	if own == "" {
		return ours, nil
	}
	var all, add ownSettings
	if err := json.Unmarshal([]byte(ours), &all); err != nil {
		return "", err
	}
	if err := json.Unmarshal([]byte(own), &add); err != nil {
		return "", err
	}
	join(&all.Env, add.Env)
	join(&all.Rest, add.Rest)
	join(&all.Permissions.Rest, add.Permissions.Rest)
	all.Permissions.Deny = append(all.Permissions.Deny, add.Permissions.Deny...)
	if all.Hooks == nil {
		all.Hooks = map[string][]jsontext.Value{}
	}
	for event, groups := range add.Hooks {
		all.Hooks[event] = append(all.Hooks[event], groups...)
	}
	text, err := json.Marshal(all, json.Deterministic(true))
	return string(text), err
}

// join adds to a map what it does not have.
func join[V any](to *map[string]V, from map[string]V) {
	if *to == nil {
		*to = map[string]V{}
	}
	for name, value := range from {
		if _, has := (*to)[name]; !has {
			(*to)[name] = value
		}
	}
}

// With returns what the user has settled if an agent's own settings count too.
func (c Chosen) With(own string) Chosen {
	var settled byItself
	if own == "" || json.Unmarshal([]byte(own), &settled) != nil {
		return c
	}
	return Chosen{IdleCompaction: c.IdleCompaction || settled.IdleCompaction != nil, AutoContinue: c.AutoContinue || settled.AutoContinue != nil}
}

// CheckSettings checks an agent's own settings as they are recorded; "" stands for none. Errors: BadInput.
func CheckSettings(own string) error {
	if own == "" {
		return nil
	}
	_, err := ParseSettings(own)
	return err
}

// NamesSettings reports whether the value of --settings is an object, and not the path of a file.
func NamesSettings(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), "{") }
