// Package standin imitates the claude program as far as a supervisor depends on it, for what the real one will not do
// on demand: a slow start, an early death, a refusal to stop, a dialog, a lost id.
//
// What it does like the real one is held to it by the contract suite (internal/sim/contract), which runs the same
// assertions against both: arguments and their errors, the registry sessions/<pid>.json, transcripts, history.jsonl,
// first-run dialogs, exit codes. It answers a turn by sending the conversation, read back from its transcript, to
// ANTHROPIC_BASE_URL, so that a memory is proof here too. Not imitated: slash commands other than /exit, /clear and /resume ID,
// `!` commands, tools other than Bash, compaction, cost, streaming from the API (the parts of an answer come when it is whole), what
// 2.1.329 keeps of a system prompt, the inbox socket, the status line.
//
// NBS_SIM_CLAUDE makes it misbehave; a comma separated list of:
//
//	start-delay=4s     do nothing at all for that long first
//	draw-delay=500ms   draw the prompt that long after the registry says idle, as in a terminal that lags
//	resize-delay=1s    draw for a new size of the terminal that late
//	die-after=4s       end like a crash (registry left behind) that long after the start
//	die-code=3         with this exit code instead of 1
//	leader-dies=1s     at USR1 let the first thread end, and the others that long after it, as after a kill
//	refuse-term        ignore TERM, HUP and INT
//	stop-delay=4s      take that long to shut down after a signal
//	stop-gate=FIFO     shut down after a signal only when a line is written to this pipe
//	dialog=NAME        show this dialog although nothing asks for it: trust, api-key, bypass, onboarding, login
//	no-registry        write no sessions/<pid>.json
//	no-hooks           run no hooks, as where the user has switched them off
//	no-transcript      write no transcript
//	late-transcript=1s write it only that long after the registry says that a permission is asked for
//	wrong-session-id   run under another, random session id than the one asked for
//	print-error=TEXT   print TEXT on stderr and exit 1 (TEXT ends at the next comma)
//	new-ids            answer each turn without a terminal under a new session id, which has all that was said before
//	die-in-turn=asked  be killed in a turn: heard (nothing of it is written), asked (its text is), answered (its answer is)
//	spawn-child        start a child in a session of its own that lives on, like a tool's shell
//	version=2.1.100    claim this version; up to 2.1.200 the older program's ways are imitated
//
// Invariants: it talks to ANTHROPIC_BASE_URL only if that is on loopback. It never waits by polling. The package must
// not import anything of the product.
package standin
