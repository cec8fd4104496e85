// Package telegram is a simulated Bot API of Telegram on loopback: the far end for a bridge, and for its users.
//
// The bot's side, below /bot<token>/, is what a bridge needs of the real one: getMe, getUpdates, sendMessage,
// sendChatAction. Anything else is a 404, which a test then sees.
//
//   - An update is kept until getUpdates is called with an offset above its number. A call that does not
//     acknowledge it gets it again.
//   - getUpdates waits for an update as long as it is asked to. A second call at the same time ends the first
//     with 409, as in the real one.
//   - A text is refused when it is empty, or longer than 4,096 UTF-16 code units.
//   - A call that comes before the retry_after of a 429 is over is refused again, and counted (Hasty).
//
// The users' side is the Go API (Say, Sent, Await, Block, Fail) and, for scripts, the same over HTTP below /control/:
//
//	POST /control/say    {"chat": 1, "text": "Hello"}          a user writes; answers with the message
//	GET  /control/chat?chat=1&after=0&replies=1&wait=10s       the chat's messages after a number, once so many of the bot's are among them
//	POST /control/fail   {"method": "sendMessage", "times": 1, "code": 429, "retry_after": 1}
//	POST /control/block  {"chat": 1, "blocked": true}          the user blocks the bot, or takes it back
//
// Invariants: it listens on loopback or not at all, and keeps all in memory. The package must not import anything of
// the product: it knows the Bot API from its documentation.
package telegram
