// Package contract holds the assertions that the real Claude Code and its stand-in must both satisfy, so that a test
// against the stand-in says something about the real one. It has no code besides its tests.
package contract
