// Package claude knows how Claude Code is launched: its flags, its environment, its settings,
// its configuration folder and where in it everything lies, and how the recorded conversation
// is opened. All knowledge of Claude Code is in it and in the packages below it:
//
//	transcript  Claude's JSONL: conversations and the history of prompts
//	live        what a running claude reports: registry, hooks, status line
//	screen      what claude draws
//	turn        turns of a conversation without a terminal
//
// [Config] is the configuration folder. It finds the files and passes them to the packages that
// read them, so that transcript and live depend neither on it nor on each other. What all of them
// rely on was observed on the versions 2.1.197 and 2.1.329; a fact that differs between them is
// named where it is used.
//
// The package changes few of Claude's files: it accepts a folder's trust dialog, renames a
// transcript that has no message or has lost a part, and links a transcript to where an older
// Claude looks for it. It starts nothing, signals nothing and uses neither tmux nor .nbs.
package claude
