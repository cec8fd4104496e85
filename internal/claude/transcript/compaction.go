package transcript

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Compaction is how a /compact ended.
type Compaction struct {
	Ended         bool
	Before, After int    // tokens in the window, as Claude counts them; 0: it does not say
	Refusal       string // why the conversation was not compacted, in Claude's words; "": it was
}

// Compaction looks for the end of a /compact that was given when the transcript had after bytes. A /compact that a
// person interrupts writes no end.
func (t File) Compaction(after int64) (end Compaction, err error) {
	given := "" // uuid of the command's record
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		switch {
		case r.IsSidechain:
		case r.compacted():
			meta := r.compactMetadata()
			end = Compaction{Ended: true, Before: meta.PreTokens, After: meta.PostTokens}
		case r.Type == "system" && r.Subtype == "local_command" && r.Parent == given && given != "":
			end = Compaction{Ended: true, Refusal: withoutTags(textOfBlocks(blocksOf(r.Content)))}
		case r.givesCompact():
			given = r.UUID
		}
		return !end.Ended
	})
	return end, err
}

func (r *conversationRecord) givesCompact() bool {
	return slices.ContainsFunc(r.messages(), func(m Message) bool {
		word, _, _ := strings.Cut(m.Text, " ")
		return m.Speaker == You && word == "/compact"
	})
}

// compactMetadata is what Claude notes of a compaction.
type compactMetadata struct {
	Trigger    string `json:"trigger"`
	PreTokens  int    `json:"preTokens"`
	PostTokens int    `json:"postTokens"` // since 2.1.3xx
}

// compactMetadata returns the zero value for metadata that cannot be read.
func (r *conversationRecord) compactMetadata() (meta compactMetadata) {
	if len(r.Compact) == 0 || unmarshalRecord(r.Compact, &meta) != nil {
		return compactMetadata{}
	}
	return meta
}

var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?local-command-[a-z]+>`) })

// withoutTags returns the output of one of Claude's commands without its tags.
func withoutTags(text string) string { return strings.TrimSpace(tag().ReplaceAllString(text, "")) }
