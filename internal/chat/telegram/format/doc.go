// Package format turns Claude's Markdown into messages of Telegram: plain text and entities, which say where it is
// bold, code, a link.
//
//   - Entities, not a parse mode: Telegram refuses a text that is not valid in its mode, and Claude's Markdown is not.
//     Text beside entities needs no escapes, and is the message if Telegram refuses the entities.
//   - Nothing that a reader of the Markdown would see is lost. What Telegram cannot show, such as HTML, or a link to a
//     file, is written out.
//   - Entities are inside their text, never in the middle of a character, and contain each other or are apart. Code
//     contains no other, and no quotation contains another.
//   - A text that is too long is cut between its blocks, or else its lines, or else its words. Code and tables that fit
//     into one message are not cut; longer code goes on as code in the next message.
//
// The package is pure: it knows neither the network nor the bridge.
package format
