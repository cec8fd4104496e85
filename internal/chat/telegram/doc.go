// Package telegram is a bridge between Telegram chats and conversations. Each chat has one conversation, with the key
// "telegram:<chat id>". Each topic of a group has its own: "telegram:<chat id>/<topic id>".
//
// Invariants:
//
//   - Only allowed chats and users are served. Others get no answer. In a group, only messages for the bot do.
//   - A message is acknowledged to Telegram only when it is durable. Until then Telegram keeps it, for a day, and
//     gives it again to the next bridge. Each message is accepted under the id of its update, so a repeated one is
//     accepted once. Its files are kept before that. Several updates may be one message: an album, or a text that the
//     sender's app has split. Which ones is recorded before it is accepted.
//   - The messages of a chat are accepted, and answered, in order. A reset keeps its place among them.
//   - An answer is sent once. But Telegram cannot be asked what it was sent. So if the bridge or the connection broke
//     between the sending and Telegram's confirmation, the message in doubt is sent again, and says so. An edit needs
//     no such word: to repeat it changes nothing.
//   - While Claude writes, its answer grows in one message (see growing). That is a preview: what counts is the answer,
//     which takes its place. The number of that message is durable before it shows any of the answer, so that no half
//     of an answer is left behind.
//   - An answer's Markdown becomes entities (see package format). A parse mode would not do: Telegram refuses what is
//     not valid Markdown or HTML of its kind, and Claude's text is neither. If Telegram refuses the entities, the
//     message is sent without them. The bridge's own words are plain text.
//   - A message about a failure says what happened and what is next.
//   - The token is in no log and in no error.
//
// The package uses conversations and agents through the interfaces that it declares, and must not import them.
package telegram
