package teamfile

import (
	"encoding/json"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

type object = map[string]any

// Schema returns the JSON Schema of a team file, for editors. It knows the fields and their words. What only [Parse]
// knows, such as circles and excluded pairs, is not in it.
func Schema() []byte {
	shared, own := object{}, object{}
	for _, name := range sharedFields {
		shared[name] = fieldSchema(name)
		own[name] = shared[name]
	}
	for _, name := range ownFields {
		own[name] = fieldSchema(name)
	}
	handles := object{"type": "array", "items": object{"type": "string"}, "minItems": 1}
	root := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "The team file of nbs-worker",
		"type":    "object", "additionalProperties": false, "required": []string{"agents"},
		"properties": object{
			"version":  object{"description": "the version of the file's form", "enum": []any{1, Version}},
			"name":     object{"type": "string", "description": "for people"},
			"defaults": described("for all agents that say nothing else", fieldsOf(shared)),
			"agents":   object{"description": "the agents by their handles", "type": "object", "minProperties": 1, "additionalProperties": fieldsOf(own)},
			"groups":   object{"description": "names for several agents: @NAME", "type": "object", "additionalProperties": handles},
		},
	}
	text, _ := json.MarshalIndent(root, "", "  ") // of texts, numbers and lists: it cannot fail
	return append(text, '\n')
}

// fieldsOf returns the schema of a mapping that may be empty.
func fieldsOf(fields object) object {
	return object{"type": []string{"object", "null"}, "additionalProperties": false, "properties": fields}
}

func described(what string, schema object) object {
	schema["description"] = what
	return schema
}

// fieldSchema returns the schema of a field of an agent; nil for one that is not known here.
func fieldSchema(name string) object {
	line := object{"type": "string", "minLength": 1}
	words := object{"type": "array", "items": object{"type": "string", "minLength": 1}}
	value := object{"type": []string{"string", "number", "boolean"}}
	switch name {
	case "model":
		return described("as spawn --model; default: Claude's choice", line)
	case "permission_mode":
		return object{"description": "how claude asks before it acts", "enum": agent.PermissionModes}
	case "agent":
		return described("an agent of Claude's, such as one in .claude/agents", line)
	case "effort":
		return object{"enum": claude.Efforts}
	case "settings":
		return object{"description": "Claude's own settings: fields, an object in JSON, or the path of a file with one", "type": []string{"object", "string"}}
	case "args":
		return described("more arguments for claude", words)
	case "environment":
		return object{"description": "variables; ${NAME} in a value is a variable of up's caller. Not for secrets", "type": "object", "additionalProperties": value}
	case "working_dir":
		return described("where it works, from the project root", line)
	case "restart":
		return object{"description": "after which ends it starts again", "enum": append(agent.Mapped(agent.RestartWords, func(word agent.RestartWord) any { return word }), false)}
	case "memory":
		return object{"description": "it is observed, and what it does is remembered", "type": "boolean"}
	case "answers":
		return object{"description": "false: only its terminal answers what it asks", "type": "boolean"}
	case "budget":
		return object{"description": "what it may spend before its messages wait, in US dollars: 5.00/day", "type": "string", "pattern": budgetPattern}
	case "worktree":
		return object{"description": "the git worktree that is made for it", "anyOf": []object{{"type": "boolean"}, fieldsOf(treeSchema())}}
	case "description":
		return described("for people", line)
	case "profiles":
		return object{"description": "it starts only with up --profile, or if it is named", "anyOf": []object{line, words}}
	case "depends_on":
		condition := object{"type": "object", "additionalProperties": false, "required": []string{"condition"}, "properties": object{"condition": object{"enum": Conditions}}}
		return object{"description": "the agents that must be there first", "anyOf": []object{words, {"type": "object", "additionalProperties": condition}}}
	case "prompt":
		return described("its first message", line)
	case "prompt_file":
		return described("a file with its first message, from the folder of the team file", line)
	}
	return nil
}

// treeSchema returns the fields of a worktree.
func treeSchema() object {
	return object{
		"branch": object{"description": "the usual one is nbs/HANDLE", "type": "string", "minLength": 1},
		"base":   object{"description": "the commit, branch or tag at which a new branch begins", "type": "string", "minLength": 1},
		"link":   object{"description": "names that become links to the main tree", "type": "array", "items": object{"type": "string"}},
		"setup":  object{"description": "a program with its arguments, run in the new tree without a shell", "type": "array", "items": object{"type": "string"}, "minItems": 1},
	}
}

// budgetPattern matches what [agent.ParseBudget] takes, and amounts that it finds too small or too large.
const budgetPattern = `^(off|\$?[0-9]*\.?[0-9]+/(hour|day|week))$`
