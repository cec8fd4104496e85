// Package agent is the vocabulary of nbs-worker: handles, session ids, models, permission modes, records and states.
// It is pure: it opens no file, starts no process, reads no clock, and imports only fail and human of this module. So
// each of its rules is tested with values alone.
//
// # Words
//
// Each word has one meaning, in names, comments, help and output.
//
//	handle        the name of an agent in its project
//	session id    Claude Code's UUID of a conversation of an agent
//	transcript    Claude Code's file of that conversation
//	record        .nbs/sessions/HANDLE.json: all data for launching the agent again
//	seal          the user's mark on a file in .nbs; a file without it counts only after allow
//	start         one run of a launcher and its claude; it is named by its invocation id
//	launcher      nbs-worker run HANDLE: it leads the pane, starts claude and waits for it
//	lease         the lock on a session id, held while a process of ours has it open
//	verb lock     the lock on a handle, held while a verb changes the agent's life
//	journal       .nbs/journal.jsonl: what was done, to which agent, and why
//	turn          a prompt, and all that claude does until it waits for the next one
//	message       a text for an agent; the outbox keeps messages that are not sent yet
//	receipt       what is known of a message: accepted, queued, held, unknown
//	conversation  a keyed chat with a headless claude; its turns are answered one after the other
//	memory        what the observer of an agent has noted
//	watch         the verb that repairs agents while it runs; files are followed, not watched
//	action        what a watch did, or failed to do
//
// These words describe how an agent is. Each is the name of a list of words:
//
//	state         what it does now: starting, idle, busy, waiting, failed, ... ([State])
//	cause         why it does not run ([Cause])
//	end class     what an end means for a restart policy ([EndClass])
//	verdict       what triage concludes from these (Verdict of package triage)
//
// Held always means that something goes on only after a person has acted: exit code 8, the verdict, the receipt, a
// turn of a conversation, the restarts of an agent, a tmux server that is lost repeatedly. Only a turn that failed for
// a passing reason is tried again at a time. Held never means that a process has a lock.
package agent
