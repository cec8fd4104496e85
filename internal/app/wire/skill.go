package wire

// SkillPage is the page of the skill for agents, as skill show prints it.
type SkillPage struct {
	Version string `json:"version"` // of the program
	Text    string `json:"text"`
}

// SkillFile is a file of the skill, and what became of it.
type SkillFile struct {
	Path   string     `json:"path"`                  // whole
	Change FileChange `json:"change"`                // written, renewed, same or removed
	Old    string     `json:"old_version,omitempty"` // of a page that was renewed
}

// FileChange is what a verb has done with a file.
type FileChange string

// What becomes of a file.
const (
	FileWritten FileChange = "written"
	FileRenewed FileChange = "renewed"
	FileSame    FileChange = "same"
	FileRemoved FileChange = "removed"
)
