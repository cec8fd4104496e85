// Package claude knows how Claude Code is launched: its flags, its environment, its settings,
// the files in its configuration folder, and how the recorded conversation is opened. All
// knowledge of Claude Code is in it and in the packages below it:
//
//	cmdline     the command line of a claude
//	transcript  Claude's JSONL: conversations and the history of prompts
//	live        what a running claude reports: registry, hooks, status line
//	screen      what claude draws
//	turn        turns of a conversation without a terminal
//
// [Config] is the configuration folder. It finds the files and passes them to the packages that
// read them, so that transcript and live depend neither on it nor on each other. All of them rely
// on observations of the versions 2.1.197 and 2.1.329; a difference between the two is named where
// it matters.
//
// The package changes few of Claude's files: it accepts a folder's trust dialog, renames a
// transcript that has no message or has lost a part, and links a transcript to where an older
// Claude looks for it. It starts nothing, signals nothing and uses neither tmux nor .nbs.
package claude
