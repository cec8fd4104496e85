package caller

import (
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store/conversations"
)

// TurnLimit is the longest turn that an agent may ask for: a turn occupies one of the few places of the machine.
const TurnLimit = time.Hour

// Turn returns what claude gets in a turn that the caller asks for: the caller's permission mode, arguments,
// variables, settings, folder and configuration. nil for a person, and for an agent that may manage. Errors: Held for another
// project, for a longer turn than [TurnLimit], for more than the caller may do, and if it is unknown what that is.
func (c *Caller) Turn(asked *conversations.Request) (*conversations.Powers, error) {
	if asked.Command { // it may permit tools by itself
		if err := c.CheckPerson("have Claude run a command in a conversation"); err != nil {
			return nil, err
		}
	}
	if c == nil || c.manages() {
		return nil, nil //nolint:nilnil // nothing bounds it
	}
	if err := c.checkKnown(); err != nil {
		return nil, err
	}
	switch {
	case !folder.Same(c.project, c.at.Store.Project()):
		return nil, c.denied("a turn in another project")
	case asked.PermissionMode != "" && !asked.PermissionMode.Within(c.mode()):
		return nil, c.denied("a turn in the permission mode " + string(asked.PermissionMode) + ", which is wider than its own, " + string(c.mode()) + ",")
	case asked.AllowedTools != "" && c.mode() != agent.BypassPermissions: // in another mode it has to ask for them
		return nil, c.denied("--allowed-tools in its permission mode, " + string(c.mode()) + ",")
	case asked.Timeout <= 0 || asked.Timeout > TurnLimit:
		return nil, fail.Errorf(fail.Held, "%s called this, and an agent may ask for a turn of at most %s", c, TurnLimit).Hint("set a shorter limit: --timeout 1h")
	}
	return &conversations.Powers{
		Agent: c.String(), Handle: c.record.Handle, Depth: c.record.Depth, Cwd: c.record.LaunchCwd(), ConfigDir: c.record.ConfigDir, PermissionMode: c.mode(),
		ClaudeArgs: slices.Clone(c.record.ClaudeArgs), Env: maps.Clone(c.record.Env), Settings: c.record.Settings,
	}, nil
}

const (
	agentsKeys  = "agent:"  // prefix of the keys of conversations of agents
	claudesKeys = "claude:" // and of claudes without a record
)

// reserved are the prefixes of the keys of chats, schedules, copies and agents.
var reserved = []string{"telegram:", "matrix:", "schedule:", "fork:", agentsKeys, claudesKeys}

// ownKeys returns the prefix of the keys of the caller's conversations.
func (c *Caller) ownKeys() string {
	if c.record.Handle == "" {
		return claudesKeys
	}
	return agentsKeys + string(c.record.Handle) + ":"
}

// Key returns the key of a conversation that the caller names. An agent has its own conversations, with the keys
// agent:HANDLE:KEY, or claude:KEY for a claude without a record. So it cannot begin one that its user would continue
// without knowing. Errors: Held for the key of another caller.
func (c *Caller) Key(key string) (conversations.Key, error) {
	switch {
	case c.Sees(conversations.Key(key)):
		return conversations.ParseKey(key)
	case slices.ContainsFunc(reserved, func(prefix string) bool { return strings.HasPrefix(key, prefix) }):
		return "", fail.Errorf(fail.Held, "%s called this, and the conversation %s belongs to another caller", c, human.Quote(key)).
			Hint("to use a conversation of its own: nbs-worker ask KEY TEXT")
	}
	return conversations.ParseKey(c.ownKeys() + key)
}

// OnlyKeys returns the prefix of the keys of the only conversations that the caller may read; nil: of all.
func (c *Caller) OnlyKeys() *string {
	if c == nil || c.manages() {
		return nil
	}
	return new(c.ownKeys())
}

// Sees reports whether the caller may read a conversation, by its stored key. An agent may read only its own.
func (c *Caller) Sees(key conversations.Key) bool {
	return c == nil || c.manages() || strings.HasPrefix(string(key), c.ownKeys())
}
