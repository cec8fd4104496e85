// Package e2e is what the end-to-end tests share: a team of agents in a private world, on the pinned Claude Code or on the
// stand-in, with a tmux server and an API of its own. The tests stand in the packages below, one for each subject: life,
// send, recover, chat, memory, security. The package campaign has the long runs; CI runs a tenth of each.
//
// A package below adds the helpers that only its own tests need. A test asserts what a user would see: the output and the
// exit code of a command, an agent's screen, what the API was asked. What needs neither an agent nor tmux, as refusals and
// exact output do not, is a script in testdata/script.
package e2e
