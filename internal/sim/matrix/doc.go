// Package matrix is a simulated homeserver of Matrix on loopback: the far end for a bridge, and for the users who write to it.
//
// The bot's side, below /_matrix/, is the client-server API as published (v1.11). What a homeserver refuses is refused
// with its error code. What it takes although other clients cannot show it is noted, and a test reads it (Faults): an
// unknown endpoint or field, an edit without m.new_content, HTML that clients drop.
//
//   - Events have one order. A sync gives what came after its since, for each room at most as many events as its filter
//     asks for: then the timeline is limited, and /messages has the gap. A sync with an old since gives the same again.
//   - A sync waits for an event as long as it is asked to.
//   - A transaction ID makes a repeated request of the same device the same event. Another content under the same ID is a
//     fault: a homeserver would drop it without a word.
//   - A request that comes before the retry_after_ms of a 429 is over is refused again, and counted (Hasty).
//   - A room can be encrypted (Encrypt). Then what users write there has no words for the bot.
//
// The users' side is the Go API. Users make rooms (Room), invite the bot (Invite), write (Say, Send), change what they
// wrote (Edit), take it back (Redact). A test reads what the bot did: Sent, Room, Bots. For scripts, the same is below
// /control/:
//
//	POST /control/room     {"id": "!home:localhost", "name": "Home", "members": ["@ann:localhost"], "invite": false, "encrypted": false}
//	POST /control/say      {"room": "!home:localhost", "from": "@ann:localhost", "text": "Hello"}   answers with the message. Also thread,
//	                                                           reply_to, edits, mentions (the bot, true), media {kind, name, content}
//	GET  /control/room?room=!home:localhost&after=0&replies=1&wait=10s    the room's messages after a number, as soon as the wanted replies are among them
//	POST /control/fail     {"method": "send", "times": 1, "code": 429, "retry_after_ms": 1000}
//	GET  /control/faults                                       what was wrong with the bot's requests
//
// Invariants: it listens on loopback or not at all, and keeps all in memory. The package must not import anything of
// the product: it knows the API from its specification.
package matrix
