// Package bridge connects a chat system, such as Telegram, with conversations. Each chat has one conversation, with the
// key "telegram:<chat>". Each topic of a chat has its own: "telegram:<chat>/<topic>".
//
// What is the bridge's, for every [System]:
//
//   - Only allowed chats and users are served. Others get no answer. In a group, only messages for the bot do.
//   - An update is done only when what becomes of it is durable. Until then the system gives it again to the next bridge.
//     Each message is accepted under the id of its update, so a repeated one is accepted once. Its files are kept before
//     that. Several updates may be one message: an album, or a text that the sender's app has split. Which ones is
//     recorded before it is accepted.
//   - The messages of a chat are accepted, and answered, in order. A reset keeps its place among them. While it waits, it
//     and what is behind it are noted, so that the system need not keep them.
//   - An answer is sent once. A system that takes the id of what it is sent (see [Traits]) sees to that. Of another one,
//     it cannot be known whether a message arrived if the bridge or the connection broke between the sending and the
//     confirmation: the message in doubt is sent again, and says so. An edit needs no such word: to repeat it changes
//     nothing.
//   - While Claude writes, its answer grows in one message (see growing). That is a preview: what counts is the answer,
//     which takes its place. The number of that message is durable before it shows any of the answer, so that no half
//     of an answer is left behind.
//   - Only what Claude said is Markdown. The bridge's own words are plain text.
//   - A message about a failure says what happened and what is next.
//
// What is the system's: how it is reached, what an update means, when it is acknowledged once it is done, how a text is
// rendered and cut into messages, what is refused for good, and that its secrets are in no log and in no error.
//
// The package uses systems, conversations and agents through the interfaces that it declares, and must not import them.
package bridge
