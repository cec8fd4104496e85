// Package claude knows Claude Code: its flags, its files, its screens, its
// environment. No other package does. What it relies on was observed on the
// versions 2.1.197 and 2.1.329; a fact that differs between them is named where it
// is used.
//
// It reads Claude's files, screens and what its hooks and status line are told, and
// builds argument vectors and settings. Of Claude's files it changes few: it accepts a
// folder's trust dialog, removes the registry entry of a killed claude and sets a
// transcript aside in which nothing was said. It starts nothing, signals nothing and
// knows neither tmux nor .nbs.
package claude
