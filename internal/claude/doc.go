// Package claude knows Claude Code: its flags, its files, its screens, its
// environment. No other package does. What it relies on was observed on the
// versions 2.1.197 and 2.1.329; a fact that differs between them is named where it
// is used.
//
// It reads Claude's files and builds argument vectors. It starts nothing, signals
// nothing and knows neither tmux nor .nbs.
package claude
