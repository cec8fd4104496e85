// Package transcript reads Claude Code's JSONL: the transcript of a conversation, which is
// the conversation for all that can be resumed, and the history of prompts.
//
// A [File] is told by its path. What is read of it: the messages as Claude would go on from
// them ([File.Conversation]) and those that come later ([File.Later]); how full the window is
// and what it cost ([File.Context]); how the last turn ended ([File.LastTurn]); whether
// anything was said at all ([File.HasMessagesAfter]). [File.Has], [File.Continued] and [File.Join]
// make one whole again of which a part was taken away.
//
// It relies on this, seen on 2.1.197 and 2.1.329. Claude makes the file with the first prompt,
// not with the start, and only ever appends to it; but who was killed leaves a stub without a
// message, a line that is cut short, or, deleted meanwhile, a file that begins in the middle.
// Each record names itself and its parent, so the file is a tree: two claudes on one
// conversation have grown two branches, and Claude goes on from the newest leaf. Records stand
// near their place, not in it. Subagents, what Claude told itself and errors of the API are
// records too, by marks of their own. Any record may be of a later form, or be none: what is
// not understood is passed over. There is no limit to the length of a file, nor to that of a
// record, in which an image may be; they are read from the end and in pieces (package jsonl).
//
// Only [File.Join] writes, and replaces the file when the new one is whole. The package does
// not know where Claude keeps its files, nor what else there is to know of Claude Code.
package transcript
