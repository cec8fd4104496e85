// Package matrix is Matrix as package bridge sees a chat system: rooms without encryption, by the client-server API of a
// homeserver. Each room has one conversation, with the key "matrix:<room id>". Each thread of a room has its own:
// "matrix:<room id>/<id of the event that began it>".
//
// Invariants:
//
//   - Only allowed rooms and users are served. An invitation is accepted from an allowed user, and into an allowed room.
//     The room of an allowed user and the bot alone is that user's private chat.
//   - A homeserver keeps no acknowledgement: it gives what came after a place. So the place is recorded, durably, and only
//     when each event before it is taken or dropped. A message has the id of its event, so a repeated one is known.
//     What a sync leaves out, because it is too much, is fetched. What was written before the bot was invited into a room,
//     or before it was started for the first time, is not taken.
//     Notes of what was answered are removed after a while: if the place is older than that, so are messages that are not
//     taken any more, and the operator is told.
//   - What is sent has a transaction id, made by the bridge: with it the homeserver takes a repeated message once. It
//     remembers such an id for a while and for one session only, so after a longer interruption, or with another token,
//     a message in doubt says so (see Traits).
//   - An edit counts only if the author of the message has made it.
//   - Claude's Markdown becomes the HTML that Matrix' clients show. HTML in it is text.
//   - In an encrypted room the bot can read nothing. It says so there, once, and to the operator.
//   - The access token is in no log, no error, no address and no message.
package matrix
