// Package api is a simulated Messages API on loopback, the far end for the real Claude Code and for its stand-in.
//
// It remembers nothing: an answer is computed from the messages of the request alone, so that "42" after a resume
// proves that the client sent the conversation again. The one exception is `[[error … times=N]]`, which counts
// attempts, because a failure that heals cannot be told from the request.
//
// The last user text (what a client injects, such as <system-reminder> blocks, does not count) decides the answer:
//
//	Remember N          "OK, I will remember N."
//	… What number …     the N of the last "Remember N" of the request, or "I don't know any number."
//	anything else       "You said: " and the first 200 characters
//
// Where the system prompt says "Be terse." the words are those of a chat: "OK.", "42.", "I don't have any number in mind."
// The text "Please answer the message above; it has had no answer yet." is answered as if the text before it had been sent
// last, without its directives.
//
// Directives in that text, each once but for tools:
//
//	[[delay 2s]]                  wait before the first byte
//	[[until WORD]]                wait before the first byte until Server.Release(WORD)
//	[[slow 100ms]]                wait between the parts of the answer
//	[[error 429]]                 fail with this status (400 to 599), and again at each further attempt
//	[[error 529 times=2]]         fail at the first two attempts only
//	[[error 529 until=WORD]]      fail until Server.Release(WORD)
//	[[error 529 midstream]]       fail with this error when the answer has begun; times=N as above
//	[[drop midstream]]            close the connection when the answer has begun; times=N as above
//	[[error too-long]]            fail as for a conversation that does not fit into the window
//	[[long 9000]]                 answer at such length, in lines that each name the text; also where it is answered later
//	[[tool Bash {"command":"…"}]] ask for a tool; when its result is sent, answer "Tool said: " and the first 200 characters.
//	                              Several ask for several tools at once; the last result is said
//	[[usage 123456]]              report that many input tokens
//	[[limits 5h=0.42@1h 7d=0@9h]] say how much of the account's limits is used, and when each resets
//
// A query that a client makes for itself (Request.Side) is answered, but directives in it do not count.
//
// An observer of the memory, recognized by its system prompt, is answered with an observation for each line of the form
// "decision: TITLE" (fix, discovery, change, open end, question) in the newest transcript that it is shown. In that text
// only the directives for an observer count: [[observer error 529 times=1]]; [[observer wrong]], which answers in words
// instead of observations until the observer is asked again; and [[observer wrong always]].
//
// A request that demands JSON (an output schema or a forced tool) gets a valid instance with the answer in its strings.
//
// Invariants: the server listens on loopback or not at all; every request is kept for Requests and, when asked, written
// as a line of JSON to Options.LogFile. The package must not import anything of the product.
package api
