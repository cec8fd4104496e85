// Package telegram is Telegram for a bridge (see package bridge, which declares [bridge.System]), and for who sets a bot
// up (see [Account]).
//
// Invariants:
//
//   - An update is acknowledged to Telegram only when it is done, and so are those before it. Until then Telegram keeps
//     it, for a day, and gives it again.
//   - Telegram cannot be asked what it was sent, and takes no id of a sender's.
//   - Markdown becomes entities (see package format). A parse mode would not do: Telegram refuses what is not valid
//     Markdown or HTML of its kind, and Claude's text is neither. If Telegram refuses the entities, the message is sent
//     without them.
//   - The token is in no log and in no error.
package telegram
