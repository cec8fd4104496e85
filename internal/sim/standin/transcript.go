package standin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// record is a line of a transcript. The records of a conversation are a tree by ParentUUID; what is said next follows
// the newest leaf, so two writers fork it (as with the real program).
type record struct {
	Type           string          `json:"type"`
	UUID           string          `json:"uuid,omitempty"`
	ParentUUID     *string         `json:"parentUuid"`
	IsSidechain    bool            `json:"isSidechain"`
	Timestamp      string          `json:"timestamp,omitempty"`
	SessionID      string          `json:"sessionId"`
	CWD            string          `json:"cwd,omitempty"`
	Version        string          `json:"version,omitempty"`
	Entrypoint     string          `json:"entrypoint,omitempty"`
	UserType       string          `json:"userType,omitempty"`
	GitBranch      string          `json:"gitBranch,omitempty"`
	PermissionMode string          `json:"permissionMode,omitempty"`
	PromptSource   string          `json:"promptSource,omitempty"`
	Origin         *origin         `json:"origin,omitempty"`
	RequestID      string          `json:"requestId,omitempty"`
	IsAPIError     bool            `json:"isApiErrorMessage,omitempty"`
	Error          string          `json:"error,omitempty"`
	APIErrorStatus int             `json:"apiErrorStatus,omitempty"`
	Attachment     *attachment     `json:"attachment,omitempty"`
	Message        json.RawMessage `json:"message,omitempty"`
}

// origin says what has sent a text that is not a user's.
type origin struct {
	Kind string `json:"kind"`
}

// message is what is said in a record and on the wire.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Model   string          `json:"model,omitempty"`
}

// transcript is the file of one conversation. It is opened for each write, so that an idle agent holds no file.
type transcript struct {
	path     string
	off      bool   // amnesia: nothing is written, the conversation is kept in records only
	template record // what every new record has in common
	records  []record

	mu   sync.Mutex // a timer calls release
	late bool       // lines are held back until release
	held [][]byte
}

// load reads what is there. A line that cannot be read (cut short by a kill) is passed over, as the real one does.
func (t *transcript) load() error {
	data, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	t.records = nil
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) == nil && r.UUID != "" {
			t.records = append(t.records, r)
		}
	}
	return nil
}

// add appends a message as the child of the leaf. change completes its record.
func (t *transcript) add(kind string, m any, change func(*record)) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	r := t.template
	r.Type, r.UUID, r.Message = kind, uuid.NewString(), data
	r.Timestamp = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	if parent, found := t.leaf(); found {
		r.ParentUUID = &parent.UUID
	}
	change(&r)
	t.records = append(t.records, r)
	return t.append(r)
}

// attachment is what a hook has printed: it reaches the model beside the user's words.
type attachment struct {
	Type      string `json:"type"`
	HookName  string `json:"hookName"`
	HookEvent string `json:"hookEvent"`
	Content   string `json:"content"`
	Stdout    string `json:"stdout"`
	ExitCode  int    `json:"exitCode"`
}

// The events whose hooks' output reaches the model: a prompt, and the start of a session.
const (
	promptHook = "UserPromptSubmit"
	startHook  = "SessionStart"
)

// addContext records the output of the hook of an event; "" is none.
func (s *session) addContext(event, printed string) error {
	if printed == "" {
		return nil
	}
	return s.tr.add("attachment", nil, func(r *record) {
		r.Message = nil
		r.Attachment = &attachment{Type: "hook_success", HookName: event, HookEvent: event, Content: printed, Stdout: printed}
	})
}

// copyTo copies all that was said into another file, under another id, in which the conversation then goes on.
func (t *transcript) copyTo(path, id string) error {
	t.path, t.template.SessionID = path, id
	for i := range t.records {
		t.records[i].SessionID = id
		if err := t.append(t.records[i]); err != nil {
			return err
		}
	}
	return nil
}

// append writes one line with one write, so that two writers do not tear each other's.
func (t *transcript) append(line any) error {
	if t.off {
		return nil
	}
	data, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.late {
		t.held = append(t.held, data)
		return nil
	}
	return appendLine(t.path, data)
}

// release writes what was held back. There is nobody to tell of an error.
func (t *transcript) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.held {
		_ = appendLine(t.path, line)
	}
	t.late, t.held = false, nil
}

// open writes the lines that precede the first prompt. Until then there is no file.
func (t *transcript) open(mode string) error {
	if len(t.records) > 0 {
		return nil
	}
	id := t.template.SessionID
	if err := t.append(map[string]string{"type": "mode", "mode": "normal", "sessionId": id}); err != nil {
		return err
	}
	return t.append(map[string]string{"type": "permission-mode", "permissionMode": mode, "sessionId": id})
}

// conversation is the path from the root to the newest leaf, without what the API neither sent nor received.
func (t *transcript) conversation() []message {
	byID := make(map[string]record, len(t.records))
	for _, r := range t.records {
		byID[r.UUID] = r
	}
	var said []message
	for r, ok := t.leaf(); ok; {
		var m message
		if r.Attachment != nil {
			said = append([]message{{Role: "system", Content: quoted(r.Attachment.HookEvent + " hook success: " + r.Attachment.Content)}}, said...)
		}
		if (r.Type == "user" || r.Type == "assistant") && !r.IsAPIError && json.Unmarshal(r.Message, &m) == nil {
			said = append([]message{{Role: m.Role, Content: m.Content}}, said...)
		}
		if r.ParentUUID == nil {
			break
		}
		r, ok = byID[*r.ParentUUID]
	}
	return said
}

// leaf is the newest record that nothing follows. It need not be the last line: the real program sometimes writes an
// answer before its question.
func (t *transcript) leaf() (record, bool) {
	followed := make(map[string]bool, len(t.records))
	for _, r := range t.records {
		if r.ParentUUID != nil {
			followed[*r.ParentUUID] = true
		}
	}
	for _, r := range slices.Backward(t.records) {
		if !followed[r.UUID] {
			return r, true
		}
	}
	return record{}, false
}

// model is the one that answered last, which a resume without --model keeps.
func (t *transcript) model() string {
	for i := len(t.records) - 1; i >= 0; i-- {
		var m message
		if t.records[i].Type == "assistant" && !t.records[i].IsAPIError && json.Unmarshal(t.records[i].Message, &m) == nil {
			return m.Model
		}
	}
	return ""
}

func appendLine(path string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("append: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// plain is the text of a message, in either form of content.
func plain(m message) string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []content
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	return reply{Content: parts}.text()
}
