// Package agent is the vocabulary of nbs-worker: handles, session ids, models, permission modes,
// records and states. It is pure: it opens no file, starts no process, reads no clock, and imports
// nothing of this module, so that each of its rules is tested with values alone.
//
// # Words
//
// Each word has one meaning, in names, comments, help and output.
//
//	handle        the name of an agent in its project
//	session id    Claude Code's UUID of a conversation of an agent
//	transcript    Claude Code's file of that conversation
//	record        .nbs/sessions/HANDLE.json: all that is needed to launch the agent again
//	seal          the user's mark on a file in .nbs; what lacks it counts only after allow
//	start         one run of a launcher and its claude; it is named by its invocation id
//	launcher      nbs-worker run HANDLE: it leads the pane, starts claude and waits for it
//	lease         the lock on a session id, held while a process of ours has it open
//	verb lock     the lock on a handle, held while a verb changes the agent's life
//	journal       .nbs/journal.jsonl: what was done, to whom, why
//	turn          a prompt, and all that claude does until it waits for the next one
//	message       a text that is sent to an agent; the outbox keeps those that are not sent yet
//	receipt       what is known of a message: accepted, queued, held, unknown
//	conversation  a keyed chat with a headless claude; its turns are answered one after the other
//	memory        what the observer of an agent has noted
//	watch         the verb that repairs agents while it runs; files are followed, not watched
//	action        what a watch did, or could not do
//
// How an agent is, is told in these words, each of one list:
//
//	state         what it does now: starting, idle, busy, waiting, failed, ... ([State])
//	cause         why it does not run ([Cause])
//	end class     what a restart policy makes of an end ([EndClass])
//	verdict       what triage makes of all that (Verdict of package triage)
//
// Held means everywhere that something goes on only after a person has acted, and never that a
// process has a lock: exit code 8, the verdict, the receipt, a turn of a conversation, the restarts
// of an agent, a tmux server that is lost again and again.
package agent
