// Package claude knows how Claude Code is launched: its flags, its environment, its settings,
// its configuration folder and where in it everything lies, and how the recorded conversation
// is opened. With its children it knows Claude Code whole; no other package does:
//
//	transcript  Claude's JSONL: conversations and the history of prompts
//	live        what a running one tells: registry, hooks, status line
//	screen      what it draws
//	turn        turns of a conversation without a terminal
//
// [Config] is the configuration folder. It finds the files and hands them to who reads them,
// so that transcript and live know neither it nor each other. What all of them rely on was
// observed on the versions 2.1.197 and 2.1.329; a fact that differs between them is named
// where it is used.
//
// Of Claude's files the package changes few: it accepts a folder's trust dialog, sets a
// transcript aside in which nothing was said, or of which a part is missing, and links one to
// where an older Claude looks for it. It starts nothing, signals nothing and knows neither
// tmux nor .nbs.
package claude
