// Package telegram is a bridge between chats of Telegram and conversations: one conversation for each chat, by the key
// "telegram:<chat id>".
//
// Invariants:
//
//   - Only chats that are allowed are served. Nobody else is answered.
//   - A message is acknowledged to Telegram only when it is durable: Telegram keeps it until then, for a day, and
//     gives it again to the next bridge. Each is accepted under the id of its update, so that one that comes again is
//     the same.
//   - The messages of a chat are accepted, and answered, in their order; a reset too has its place in it.
//   - An answer is told once. Telegram has no way to ask what it was sent, so that one is told a second time, and says
//     so, when the bridge or the connection broke between the sending and the word that it was sent.
//   - What is told is plain text. A parse mode would have Telegram refuse an answer whose characters happen to be
//     no Markdown or HTML of its kind, and Claude's text is neither.
//   - Each failure is told with what happened and what is next.
//   - The token is in no log and in no error.
//
// The package knows conversations and agents by the interfaces that it declares, and must not import them.
package telegram
