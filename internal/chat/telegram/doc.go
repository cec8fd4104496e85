// Package telegram is a bridge between chats of Telegram and conversations: one conversation for each chat, by the key
// "telegram:<chat id>".
//
// Invariants:
//
//   - Only chats that are allowed are served. Nobody else is answered.
//   - A message is acknowledged to Telegram only when it is durable: Telegram keeps it until then, for a day, and
//     gives it again to the next bridge. Each message is accepted under the id of its update, so that one that comes
//     twice is accepted once.
//   - The messages of a chat are accepted, and answered, in their order; a reset keeps its place among them.
//   - An answer is sent once. But Telegram cannot be asked what it was sent, so an answer is sent a second time, and
//     says so, when the bridge or the connection broke between the sending and Telegram's confirmation.
//   - Messages are plain text. With a parse mode Telegram would refuse an answer that is not valid Markdown or HTML
//     of its kind, and Claude's text is neither.
//   - A message about a failure says what happened and what is next.
//   - The token is in no log and in no error.
//
// The package reaches conversations and agents through the interfaces that it declares, and must not import them.
package telegram
