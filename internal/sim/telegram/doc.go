// Package telegram is a simulated Bot API of Telegram on loopback: the far end for a bridge, and for its users.
//
// The bot's side, below /bot<token>/ and /file/bot<token>/, is as published: its methods (see methods), their parameters
// and their limits. What Telegram refuses is refused with Telegram's words; what it ignores or drops is noted, and a
// test reads it (Faults): a parameter or a method that does not exist, the hundred and first entity.
//
//   - An update is kept until getUpdates is called with an offset above its number. A call that does not
//     acknowledge it gets it again. Only kinds that the bot asked for become updates.
//   - getUpdates waits for an update as long as it is asked to. A second call at the same time ends the first
//     with 409, as in the real one. So does a webhook (SetWebhook).
//   - A call that comes before the retry_after of a 429 is over is refused again, and counted (Hasty).
//   - The limits of the rate are held when a test asks for it (Options.Rates, LimitRates).
//
// The users' side is the Go API. A positive number is a private chat that has begun; a group has to be made (Group,
// Supergroup, Forum). Users write (Say, SayAs, Photo, Voice, Document, Album), change what they wrote (Edit), press
// buttons (Press), open topics (Topic). A test reads what the bot did: Sent, Bots, Chat, Message, Shows, Commands.
// For scripts, the same is below /control/:
//
//	POST /control/say      {"chat": 1, "text": "Hello"}        a user writes; answers with the message. Also from, topic,
//	                                                           reply_to, quote, media {kind, name, content}
//	POST /control/edit     {"chat": 1, "number": 3, "text": "Hi"}
//	POST /control/press    {"chat": 1, "number": 4, "from": 1, "data": "yes"}
//	GET  /control/chat?chat=1&after=0&replies=1&wait=10s       the chat's messages after a number, as soon as the wanted replies are among them
//	POST /control/user     {"id": 1, "first_name": "Ann", "username": "ann"}
//	POST /control/group    {"id": -1001, "title": "Home", "kind": "forum"}    group, supergroup, forum
//	POST /control/topic    {"chat": -1001, "from": 1, "name": "Food"}         answers with its number
//	POST /control/webhook  {"url": "https://example.org"}      as another program of the bot's owner asked
//	POST /control/fail     {"method": "sendMessage", "times": 1, "code": 429, "retry_after": 1}
//	POST /control/block    {"chat": 1, "blocked": true}        the user blocks the bot, or takes it back
//	GET  /control/faults                                       what was wrong with the bot's requests
//
// Invariants: it listens on loopback or not at all, and keeps all in memory. The package must not import anything of
// the product: it knows the Bot API from its documentation.
package telegram
