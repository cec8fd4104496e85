// Package live knows what a running Claude Code tells of itself, in three ways.
//
// In its registry, sessions/<pid>.json of its configuration folder, each session keeps an
// [Entry]. It is the best source: claude writes it at each change, in place, so that a
// reader may meet one half written. It is there only after the first-run dialogs, claude
// removes it when it leaves by itself, and one that was killed leaves it behind.
//
// To its hooks it writes a [Hook] on their standard input. They run side by side, so what
// comes late may be older than what is known; they are called for subagents too; and none is
// called when a person interrupts a turn. An [agent.Report] is what they have said so far.
//
// To its status line it writes a [StatusLine]: how full the conversation is and what it cost.
//
// Registry and hooks follow the agent into another conversation (/clear, /branch, /resume),
// the hooks at times first. Which of them is believed, and whether the process of an entry is
// there, is for others to judge. The package removes the entry of a killed claude and changes
// nothing else. It is given the place of the registry, and imports nothing of what else is
// known of Claude Code.
package live
