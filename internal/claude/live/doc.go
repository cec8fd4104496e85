// Package live reads what a running Claude Code reports about itself, in three ways.
//
// In its registry, sessions/<pid>.json of its configuration folder, each session keeps an
// [Entry]. It is the best source: claude writes it at each change, in place, so that a
// reader may find it half written. It exists only after the first-run dialogs; claude removes
// it when it exits by itself, and leaves it behind when it is killed.
//
// Claude writes a [Hook] to the standard input of its hooks. They run side by side, so what
// arrives late may be older than what is known; they are called for subagents too; and none is
// called when a person interrupts a turn. An [agent.Report] is what they have reported so far.
//
// Claude writes a [StatusLine] to its status line: how full the conversation is and what it cost.
//
// Registry and hooks follow the agent into another conversation (/clear, /branch, /resume),
// the hooks sometimes first. Callers judge which of them to believe, and whether the process of
// an entry lives. The package removes the entry of a killed claude and changes nothing else. It
// is given the place of the registry, and imports no other package about Claude Code.
package live
