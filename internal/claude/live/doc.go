// Package live reads what a running Claude Code reports about itself, in three ways.
//
// In its registry, sessions/<pid>.json of its configuration folder, each session keeps an
// [Entry]. It is the best source. Claude writes it in place at each change, so a reader may find
// it half written. It exists only after the first-run dialogs. Claude removes it when it exits by
// itself, and leaves it behind when it is killed.
//
// Claude writes a [Hook] to the standard input of its hooks. Hooks run in parallel, so a late one
// may be older than what is known. They are called for subagents too. No hook is called when a
// person interrupts a turn. An [agent.Report] is what they have reported so far.
//
// Claude writes a [StatusLine] to its status line: how full the conversation is and what it cost.
//
// Registry and hooks follow the agent into another conversation (/clear, /branch, /resume),
// the hooks sometimes first. Callers decide which of them to believe, and whether the process of
// an entry lives. The package removes the entry of a killed claude and changes nothing more. The
// caller passes the place of the registry. The package imports no other package about Claude Code.
package live
