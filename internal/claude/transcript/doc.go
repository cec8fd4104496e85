// Package transcript reads Claude Code's transcript of a conversation, from which Claude resumes it.
//
// A [File] is identified by its path. It returns the messages from which Claude would go on
// ([File.Conversation]) and later ones ([File.Later]); how full the window is and what the
// conversation cost ([File.Context]); how the last turn ended ([File.LastTurn]); whether there
// is any message at all ([File.HasMessagesAfter]). Package parts restores a transcript that has
// lost a part.
//
// It relies on this, seen on 2.1.197 and 2.1.329. Claude creates the file with the first prompt,
// not with the start, and only ever appends to it. But a killed claude leaves a stub without a
// message or a line that is cut short, and a file that is deleted while claude runs begins again
// in the middle. Each record has an id and the id of its parent, so the file is a tree: two claudes
// on one conversation grow two branches, and Claude goes on from the newest leaf. Records are near
// their place, not always at it. Messages of subagents, of Claude to itself and errors of the API
// are records too, with marks of their own. A line may be a record of a later version, or no record
// at all: unknown lines are skipped. Neither a file nor a record, which may contain an image, has a
// limit to its length; they are read from the end and in pieces (package jsonl).
//
// The package writes nothing. It does not know where Claude keeps its files, and knows no other part of
// Claude Code.
package transcript
