package standin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// session is one run of the program on one conversation.
type session struct {
	opts     options
	whims    whims
	cfg      *config
	settings settings
	cwd      string
	key      string // API key
	id       string
	model    string
	reg      *registry
	tr       *transcript
	turns    int
	denied   []any  // the tools that were refused in the present turn
	denial   string // what a hook has said to the last refused tool
	keyFile  string
	tasks    int              // that run in the background
	ended    chan task        // each of those; nil: there is no background
	refused  string           // why a hook has refused the present prompt
	limits   map[string]limit // of the account, from the latest reply
	told     string           // what the SessionStart hook has printed: it is sent with the next prompt
}

// aliases are the model names of 2.1.329.
var aliases = map[string]string{
	"sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5", "haiku": "claude-haiku-5-5", "fable": "claude-fable-5-2",
	"best": "claude-opus-5-5", "default": "claude-opus-5-5", "": "claude-opus-5-5", "opusplan": "claude-sonnet-5-5",
}

func wireModel(name string) string { return cmp.Or(aliases[name], name) }

// attach opens the transcript and the registry. forget switches both off (CLAUDE_CODE_CHILD_SESSION).
func (s *session) attach(entrypoint string, forget bool) error {
	path := transcriptPath(s.cfg.dir, s.cwd, s.id)
	if s.opts.resume != "" {
		path = findTranscript(s.cfg.dir, s.cwd, s.opts.resume, s.whims.old())
		if path == "" {
			return usageError("No conversation found with session ID: " + s.opts.resume)
		}
	}
	s.tr = &transcript{path: path, off: forget || s.whims.noTranscript, late: s.whims.lateTranscript > 0, template: record{
		SessionID: s.id, CWD: s.cwd, Version: s.whims.version, Entrypoint: entrypoint, UserType: "external", GitBranch: "HEAD",
	}}
	if err := s.tr.load(); err != nil {
		return err
	}
	if s.opts.fork {
		if err := s.tr.copyTo(transcriptPath(s.cfg.dir, s.cwd, s.id), s.id); err != nil {
			return err
		}
	}
	s.model = wireModel(s.opts.model)
	if s.opts.model == "" {
		s.model = cmp.Or(s.tr.model(), s.model)
	}
	if forget || s.whims.noRegistry {
		return nil
	}
	var err error
	s.reg, err = newRegistry(s.cfg.dir, entry{
		SessionID: s.id, CWD: s.cwd, Version: s.whims.version, Entrypoint: entrypoint, Name: s.opts.name,
	})
	return err
}

// loggedIn reports whether the API key may be used. With -p the user need not have approved it.
func (s *session) loggedIn() bool {
	return s.subscribes() || s.key != "" && (s.opts.print || s.cfg.keyAnswer(s.key) == "approved")
}

// subscribes reports whether the account is one with a plan, which has limits: it has a token, and no key.
func (s *session) subscribes() bool { return s.key == "" && os.Getenv("CLAUDE_CODE_OAUTH_TOKEN") != "" }

func (s *session) mode() string {
	if s.opts.bypass {
		return "bypassPermissions"
	}
	return cmp.Or(s.opts.permissionMode, "default")
}

// remember writes a typed prompt into history.jsonl, as it was typed.
func (s *session) remember(prompt string) error {
	line, err := json.Marshal(map[string]any{
		"display": prompt, "pastedContents": map[string]any{}, "timestamp": time.Now().UnixMilli(),
		"project": s.cwd, "sessionId": s.id,
	})
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return appendLine(filepath.Join(s.cfg.dir, "history.jsonl"), line)
}

// renew goes on in the conversation with an id, which is empty when there is no transcript of it.
func (s *session) renew(id string) error {
	template := s.tr.template
	template.SessionID = id
	s.id = id
	s.tr = &transcript{path: transcriptPath(s.cfg.dir, s.cwd, id), off: s.tr.off, template: template}
	if err := s.tr.load(); err != nil {
		return err
	}
	return s.reg.setSession(id)
}

// resumeHint is the command that the program prints when it leaves. The newer one repeats its flags.
func (s *session) resumeHint() string {
	flags := ""
	if !s.whims.old() {
		if s.opts.model != "" {
			flags += " --model " + s.opts.model
		}
		if s.opts.permissionMode != "" {
			flags += " --permission-mode " + s.opts.permissionMode
		}
		if s.opts.bypass {
			flags += " --dangerously-skip-permissions"
		}
	}
	return "Resume this session with:\nclaude" + flags + " --resume " + s.id
}

// forgetKey removes the key file; there may be none.
func (s *session) forgetKey() {
	if s.keyFile != "" {
		_ = os.Remove(s.keyFile)
	}
}
