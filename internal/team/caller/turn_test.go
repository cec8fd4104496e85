package caller

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// An agent asks for turns that may do less than itself, and for no others.
func TestTurnsOfAnAgentAreNarrower(t *testing.T) {
	t.Parallel()
	turn := func(mode agent.PermissionMode, tools agent.ToolRules) *conversations.Request {
		return &conversations.Request{Timeout: time.Minute, Rights: conversations.Rights{PermissionMode: mode, AllowedTools: tools}}
	}
	var person *Caller
	plain := agentWith(func(*Caller) {}) // acceptEdits
	manager := agentWith(func(c *Caller) { c.record.MayManage = true })
	bypasses := agentWith(func(c *Caller) { c.record.PermissionMode = agent.BypassPermissions })
	held := func(c *Caller, asked *conversations.Request) error {
		powers, err := c.Turn(asked)
		rig.Check(t, err != nil || (powers == nil) == (c == person || c == manager), "%s: %+v", c.From(), powers)
		return err
	}
	checkHeld(t, map[string]refusal{
		"a person, everything":         {held(person, turn(agent.BypassPermissions, "Bash")), false},
		"a manager, everything":        {held(manager, turn(agent.BypassPermissions, "Bash")), false},
		"an agent, nothing of its own": {held(plain, turn("", "")), false},
		"its own mode":                 {held(plain, turn("acceptEdits", "")), false},
		"a narrower mode":              {held(plain, turn("plan", "")), false},
		"a wider mode":                 {held(plain, turn("auto", "")), true},
		"an unknown mode":              {held(plain, turn("newest", "")), true},
		"tools that it has to ask for": {held(plain, turn("", "Read")), true},
		"tools in a narrower mode":     {held(plain, turn("plan", "Read")), true},
		"everything":                   {held(bypasses, turn(agent.BypassPermissions, "")), false},
		"some tools of all":            {held(bypasses, turn("default", "Read,Write")), false},
		"a manager, a command":         {held(manager, &conversations.Request{Command: true}), true},
		"an agent, a command":          {held(bypasses, &conversations.Request{Command: true, Timeout: time.Minute}), true},
	})
}

// An agent reads its own conversations, and what is remembered of them, and no others.
func TestAnAgentSeesItsOwnConversations(t *testing.T) {
	t.Parallel()
	var person *Caller
	plain := agentWith(func(c *Caller) { c.record.Handle = "alpha" })
	manager := agentWith(func(c *Caller) { c.record.MayManage = true })
	rig.Check(t, person.OnlyKeys() == nil && manager.OnlyKeys() == nil && person.Sees("telegram:1") && manager.Sees("telegram:1"), "who may see all does not")
	keys := plain.OnlyKeys()
	rig.Check(t, keys != nil && *keys == "agent:alpha:" && plain.Sees("agent:alpha:plan") && !plain.Sees("telegram:1") && !plain.Sees("matrix:!home:localhost") && !plain.Sees("agent:alphabet:plan"), "%v", keys)
}
