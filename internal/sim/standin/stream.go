package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// streamJSON is the format in which a claude without a terminal takes many turns.
const streamJSON = "stream-json"

// stream takes turns from stdin until its end, each a line of JSON. Its code is that of the last turn.
func (s *session) stream(ctx context.Context) (code int, err error) {
	if err := s.attach("sdk-cli", false); err != nil {
		return 1, errors.Join(s.writeRefusal(err), err)
	}
	if err := s.reg.register(); err != nil {
		return 1, err
	}
	defer s.reg.remove()
	lines := readLines()
	s.ended = make(chan task)
	started := false
	var cut <-chan time.Time // when the background tasks are not waited for any longer
	for {
		select {
		case t := <-s.ended:
			if code, err := s.follow(ctx, t); err != nil || ctx.Err() != nil {
				return code, err
			}
			if lines == nil && s.tasks == 0 {
				s.hook(ctx, "SessionEnd", map[string]any{"reason": "other"})
				return code, nil
			}
		case <-cut:
			return code, nil
		case <-ctx.Done():
			return s.printCutShort(ctx)
		case line, more := <-lines:
			if !more && s.tasks > 0 {
				if lines = nil; s.whims.old() {
					cut = time.After(5 * time.Second)
				}
				continue
			}
			if !more {
				s.hook(ctx, "SessionEnd", map[string]any{"reason": "other"})
				return code, nil
			}
			var in input
			if json.Unmarshal(line, &in) != nil || in.Type != "user" {
				continue
			}
			if !started {
				s.told = s.hook(ctx, startHook, map[string]any{"source": s.source()})
			}
			started = true
			if code, err = s.streamTurn(ctx, in); err != nil || ctx.Err() != nil {
				return code, err
			}
		}
	}
}

// writeRefusal writes a result that says that the conversation does not exist, besides the message on stderr.
func (s *session) writeRefusal(err error) error {
	if !strings.HasPrefix(err.Error(), "No conversation found") {
		return nil
	}
	out := s.resultObject("error_during_execution", "", true)
	delete(out, "result")
	out["num_turns"], out["errors"] = 0, []string{err.Error()}
	return writeObject(out)
}

// readLines sends the lines of stdin, and closes the channel at the end of input.
func readLines() <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintln(os.Stderr, err)
				}
				return
			}
		}
	}()
	return lines
}

// input is a line of stdin.
type input struct {
	Type    string  `json:"type"`
	UUID    string  `json:"uuid"`
	Message message `json:"message"`
}

// command is the text of the last block, which is a command when it begins with a slash.
func (in input) command() string {
	var text string
	if json.Unmarshal(in.Message.Content, &text) == nil {
		return strings.TrimSpace(text)
	}
	var parts []content
	if json.Unmarshal(in.Message.Content, &parts) != nil || len(parts) == 0 {
		return ""
	}
	return strings.TrimSpace(parts[len(parts)-1].Text)
}

func (s *session) streamTurn(ctx context.Context, in input) (int, error) {
	if s.whims.newIDs {
		if err := s.moveOn(); err != nil {
			return 1, err
		}
	}
	begin := time.Now()
	if err := s.sayInit(); err != nil {
		return 1, err
	}
	if answer, done, err := s.localCommand(in.command()); done || err != nil {
		out := s.resultObject("success", answer, false)
		out["num_turns"], out["stop_reason"] = 0, nil
		return 0, errors.Join(err, writeObject(out))
	}
	id := in.UUID
	if id == "" {
		id = uuid.NewString()
	}
	text := plain(in.Message)
	s.refused = ""
	printed := s.hook(ctx, promptHook, map[string]any{"prompt": text})
	if s.refused != "" {
		return 0, s.refuse(s.refused, id)
	}
	if s.opts.replay {
		if err := s.say("user", map[string]any{"message": in.Message, "uuid": id, "isReplay": true}); err != nil {
			return 1, err
		}
	}
	r, err := s.turn(ctx, said{text: text, content: in.Message.Content, uuid: id, printed: printed}, headless{})
	if ctx.Err() != nil {
		return s.printCutShort(ctx)
	}
	if err != nil {
		return 1, err
	}
	s.hookStop(ctx, r)
	return s.streamResult(r, id, time.Since(begin))
}

func (s *session) sayInit() error {
	return s.say("system", map[string]any{
		"subtype": "init", "cwd": s.cwd, "model": s.model, "permissionMode": s.mode(), "claude_code_version": s.whims.version, "tools": []string{"Bash"},
	})
}

// streamResult writes an answer, and then the result of the turn.
func (s *session) streamResult(r result, id string, took time.Duration) (int, error) {
	out := s.turnResult(r, took)
	if !s.whims.old() {
		out["user_message_uuid"] = id
	}
	code := 0
	if r.failed != nil {
		code = 1
	}
	return code, errors.Join(s.sayAnswer(r), writeObject(out))
}

// sayAnswer writes an answer in its parts and as a whole.
func (s *session) sayAnswer(r result) error {
	answer := map[string]any{"message": map[string]any{
		"role": "assistant", "model": s.model, "content": []map[string]string{{"type": "text", "text": r.text}},
	}}
	switch {
	case r.failed != nil:
		answer["error"] = r.failed.class()
	case s.opts.partial:
		for _, word := range strings.SplitAfter(r.text, " ") {
			delta := map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]string{"type": "text_delta", "text": word}}
			if err := s.say("stream_event", map[string]any{"event": delta}); err != nil {
				return err
			}
		}
	}
	return s.say("assistant", answer)
}

// say writes a line of output of a kind.
func (s *session) say(kind string, out map[string]any) error {
	out["type"], out["session_id"], out["parent_tool_use_id"] = kind, s.id, nil
	if out["uuid"] == nil {
		out["uuid"] = uuid.NewString()
	}
	return writeObject(out)
}

// localCommand carries out a command that the program answers by itself, without a turn.
func (s *session) localCommand(text string) (answer string, done bool, err error) {
	name, isCommand := strings.CutPrefix(strings.SplitN(text+" ", " ", 2)[0], "/")
	switch {
	case !isCommand || name == "":
		return "", false, nil
	case name == "clear":
		return "", true, s.renew(uuid.NewString())
	case name == "exit":
		return "/exit isn't available in this environment.", true, nil
	case s.whims.old():
		return "Unknown command: /" + name, true, nil
	}
	return "", false, nil // 2.1.329 sends it to the model
}

// moveOn goes on under a new session id, with a copy of all that was said.
func (s *session) moveOn() error {
	s.id = uuid.NewString()
	if err := s.tr.copyTo(transcriptPath(s.cfg.dir, s.cwd, s.id), s.id); err != nil {
		return err
	}
	return s.reg.setSession(s.id)
}

// dieAt kills this process when die-in-turn names this place in a turn.
func (s *session) dieAt(where string) {
	if s.whims.dieInTurn == where {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
}
