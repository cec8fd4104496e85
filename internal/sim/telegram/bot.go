package telegram

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// maxText is in UTF-16 code units.
const maxText = 4096

type update struct {
	ID      int64          `json:"update_id"`
	Message map[string]any `json:"message"`
}

// call answers a call of the bot's.
func (s *Server) call(w http.ResponseWriter, r *http.Request, method string) {
	params, err := parameters(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "Bad Request: "+err.Error(), 0)
		return
	}
	s.mu.Lock()
	s.calls[method]++
	s.change()
	hold := s.holds[method]
	left := time.Until(s.waits[method])
	failure := s.failure(method)
	switch {
	case left > 0:
		s.hasty++
		failure = &Failure{Code: http.StatusTooManyRequests, RetryAfter: int(left/time.Second) + 1}
	case failure != nil && failure.RetryAfter > 0:
		s.waits[method] = time.Now().Add(time.Duration(failure.RetryAfter) * time.Second)
	}
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if failure != nil {
		if failure.Done {
			s.answer(discard{http.Header{}}, r, method, params)
		}
		failure.tell(w)
		return
	}
	s.answer(w, r, method, params)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, method string, params map[string]string) {
	switch method {
	case "getMe":
		accept(w, map[string]any{"id": 1000, "is_bot": true, "first_name": "Simulated", "username": Name})
	case "getUpdates":
		s.getUpdates(w, r, params)
	case "sendMessage":
		s.sendMessage(w, params)
	case "sendChatAction":
		accept(w, true)
	default:
		refuse(w, http.StatusNotFound, "Not Found: method is not simulated", 0)
	}
}

func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, params map[string]string) {
	offset, _ := strconv.ParseInt(params["offset"], 10, 64) // 0 when it is not given
	seconds, _ := strconv.Atoi(params["timeout"])
	poll, end := context.WithCancel(r.Context())
	defer end()
	wait, done := context.WithTimeout(poll, time.Duration(seconds)*time.Second)
	defer done()

	s.mu.Lock()
	if s.poller != nil {
		s.poller()
	}
	s.poller = end
	for len(s.updates) > 0 && s.updates[0].ID < offset {
		s.updates = s.updates[1:]
		s.change()
	}
	s.mu.Unlock()

	s.await(wait, func() bool { return len(s.updates) > 0 })
	if poll.Err() != nil {
		refuse(w, http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", 0)
		return
	}
	const limit = 100
	s.mu.Lock()
	updates := append([]update{}, s.updates[:min(len(s.updates), limit)]...)
	s.mu.Unlock()
	accept(w, updates)
}

func (s *Server) sendMessage(w http.ResponseWriter, params map[string]string) {
	chat, err := strconv.ParseInt(params["chat_id"], 10, 64)
	text := strings.TrimSpace(params["text"])
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "Bad Request: chat not found", 0)
	case s.blocked[chat]:
		refuse(w, http.StatusForbidden, "Forbidden: bot was blocked by the user", 0)
	case text == "":
		refuse(w, http.StatusBadRequest, "Bad Request: message text is empty", 0)
	case len(utf16.Encode([]rune(text))) > maxText:
		refuse(w, http.StatusBadRequest, "Bad Request: message is too long", 0)
	default:
		m := s.keep(Message{Chat: chat, Bot: true, Text: text, ParseMode: params["parse_mode"]})
		accept(w, map[string]any{"message_id": m.Number, "date": m.At.Unix(), "text": text, "chat": map[string]any{"id": chat, "type": "private"}})
	}
}

// parameters reads a call's parameters from a form or from JSON: the Bot API takes both.
func parameters(r *http.Request) (map[string]string, error) {
	const maxBody = 1 << 20
	params := map[string]string{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var values map[string]json.RawMessage
		if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&values); err != nil {
			return nil, err
		}
		for name, value := range values {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			params[name] = text
		}
		return params, nil
	}
	_ = r.ParseMultipartForm(maxBody) // a call without parameters has an empty form
	for name := range r.Form {
		params[name] = r.Form.Get(name)
	}
	return params, nil
}

func (f *Failure) tell(w http.ResponseWriter) {
	switch {
	case f.Code == 0:
		panic(http.ErrAbortHandler) // cuts the connection
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = io.WriteString(w, "<html><body>"+http.StatusText(f.Code)+"</body></html>")
	case f.MigrateTo != 0:
		write(w, f.Code, map[string]any{"ok": false, "error_code": f.Code, "description": "it was upgraded", "parameters": map[string]any{"migrate_to_chat_id": f.MigrateTo}})
	default:
		refuse(w, f.Code, http.StatusText(f.Code), f.RetryAfter)
	}
}

func accept(w http.ResponseWriter, result any) {
	write(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func refuse(w http.ResponseWriter, code int, why string, retryAfter int) {
	answer := map[string]any{"ok": false, "error_code": code, "description": why}
	if retryAfter > 0 {
		answer["parameters"] = map[string]any{"retry_after": retryAfter}
	}
	write(w, code, answer)
}

func write(w http.ResponseWriter, code int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // a bot that is gone does not read it
}

// discard takes the answer of a call that is carried out but whose answer is lost.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(data []byte) (int, error) { return len(data), nil }
func (d discard) WriteHeader(int)                {}
