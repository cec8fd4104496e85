// Package bench measures nbs-worker as a user feels it: whole processes, from before the fork to after the wait, next
// to the floor that tmux, the kernel and Go set, in one run.
//
// A floor and what is compared with it are sampled in turns (A B, B A, ...), so that whatever the machine does
// meanwhile happens to both. Each sample's output is looked at: a fast wrong answer is no measurement. The agents are
// real to nbs-worker (records, launchers, tmux sessions, registry entries, transcripts); what they run instead of claude
// is the tiny program in the folder claude, so that a thousand of them fit.
//
// Invariants: everything runs in a private folder, with an environment of its own and on a tmux server of its own, and
// is killed at the end, also after a failure or an interrupt. The real Claude Code runs in isolation only. A miss is
// reported as a miss. The package must not import anything of the product: it runs the binary.
package bench
