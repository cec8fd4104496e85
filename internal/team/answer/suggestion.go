package answer

import (
	"encoding/json"
	"strings"

	"nbs-worker/internal/human"
)

// suggestion is a rule that Claude itself suggests.
type suggestion struct {
	Type        string `json:"type"`
	Behavior    string `json:"behavior"`
	Destination string `json:"destination"`
	Mode        string `json:"mode"`
	Rules       []struct {
		Tool    string `json:"toolName"`
		Content string `json:"ruleContent"`
	} `json:"rules"`
	Directories []string `json:"directories"`
}

// suggestedWords returns suggestions in words, each in one line.
func suggestedWords(suggested json.RawMessage) []string {
	var all []json.RawMessage
	if json.Unmarshal(suggested, &all) != nil {
		return nil
	}
	var words []string
	for _, raw := range all {
		var s suggestion
		text := ""
		if json.Unmarshal(raw, &s) == nil {
			text = s.words()
		}
		if text == "" { // of a kind that is not known here: what it says is shown as it is
			text = string(raw)
		}
		words = append(words, harmless(text))
	}
	return words
}

func (s *suggestion) words() string {
	switch {
	case s.Type == "addRules" && s.Behavior != "" && len(s.Rules) > 0:
		var rules []string
		for _, rule := range s.Rules {
			name := rule.Tool
			if rule.Content != "" {
				name += "(" + rule.Content + ")"
			}
			rules = append(rules, name)
		}
		return s.Behavior + " " + human.And(rules) + s.where()
	case s.Type == "setMode" && s.Mode != "":
		return "permission mode " + s.Mode + s.where()
	case s.Type == "addDirectories" && len(s.Directories) > 0:
		return "work in " + strings.Join(s.Directories, ", ") + s.where()
	}
	return ""
}

// where says for how long a suggestion would hold.
func (s *suggestion) where() string {
	switch s.Destination {
	case "session":
		return ", until the session ends"
	case "localSettings":
		return ", in .claude/settings.local.json"
	case "projectSettings":
		return ", in .claude/settings.json"
	case "userSettings":
		return ", in the user's settings of Claude"
	}
	return ", in " + human.Word(s.Destination)
}
