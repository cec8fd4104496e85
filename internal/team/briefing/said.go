package brief

import (
	"encoding/json"
	"slices"

	"nbs-worker/internal/claude/transcript"
)

// Said is what a transcript shows of the last state of a conversation.
type Said struct {
	Summary string   // Claude's summary at the last compaction; "": it was not compacted
	Asked   []string // the last messages to the agent, oldest first
	Words   []string // its last messages, oldest first
	Open    bool     // the last message was not answered
	Failure string   // Claude's class of the API's error at the end; "": no error
	Files   []string // the files that it edited, newest first
	Tasks   []Task   // its last list of tasks
}

// Task is an entry of the list that an agent keeps with its TodoWrite tool.
type Task struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
}

const (
	reach    = 1000 // number of messages from the end that are read
	askedNum = 3
	wordsNum = 2
	filesNum = 15
)

// read reads the last state of a conversation.
func read(file transcript.File) (Said, error) {
	conversation, err := file.Conversation(transcript.Wanted{Tools: true, Keep: matters, Last: reach})
	if err != nil {
		return Said{}, err
	}
	var said Said
	after := transcript.Speaker("")
	err = conversation.Each(func(m transcript.Message) error {
		said.add(m, after)
		after = m.Speaker
		return nil
	})
	return said, err
}

// matters reports whether a message is read. Claude's message right after a compaction is the summary.
func matters(m transcript.Message) bool {
	switch m.Speaker {
	case transcript.You:
		return !m.Aside
	case transcript.Agent:
		return !m.Aside
	case transcript.Tool:
		return m.Tool == "TodoWrite" && !m.Subagent || editing(m.Tool)
	case transcript.Compacted, transcript.Claude:
		return !m.Subagent
	}
	return false
}

func editing(tool string) bool {
	return slices.Contains([]string{"Edit", "MultiEdit", "Write", "NotebookEdit"}, tool)
}

func (s *Said) add(m transcript.Message, after transcript.Speaker) {
	switch {
	case m.Speaker == transcript.You:
		s.Asked, s.Open, s.Failure = last(append(s.Asked, m.Text), askedNum), true, ""
	case m.Speaker == transcript.Agent && m.Failure != "":
		s.Failure = m.Failure
	case m.Speaker == transcript.Agent:
		s.Words, s.Open, s.Failure = last(append(s.Words, m.Text), wordsNum), false, ""
	case m.Speaker == transcript.Claude && after == transcript.Compacted:
		s.Summary = m.Text
	case m.Tool == "TodoWrite":
		s.noteTasks(m.Text)
	case m.Speaker == transcript.Tool:
		s.noteFile(m.Text)
	}
}

func (s *Said) noteTasks(input string) {
	var list struct {
		Todos []Task `json:"todos"`
	}
	if json.Unmarshal([]byte(input), &list) == nil {
		s.Tasks = list.Todos
	}
}

func (s *Said) noteFile(input string) {
	var edit struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	if json.Unmarshal([]byte(input), &edit) != nil {
		return
	}
	for _, path := range []string{edit.File, edit.Notebook} {
		if path != "" {
			s.Files = slices.DeleteFunc(s.Files, func(other string) bool { return other == path })
			s.Files = slices.Insert(s.Files, 0, path)
		}
	}
	s.Files = s.Files[:min(len(s.Files), filesNum)]
}

// last returns the last n elements of all.
func last(all []string, n int) []string { return all[max(0, len(all)-n):] }
