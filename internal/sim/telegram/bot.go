package telegram

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// call answers a call of the bot's.
func (s *Server) call(w http.ResponseWriter, r *http.Request, method string) {
	p, refused := parameters(w, r)
	if refused != nil {
		refused.tell(w)
		return
	}
	s.Mu.Lock()
	s.check(method, p)
	hold, left := s.Count(method)
	failure := s.failure(method)
	switch {
	case left > 0:
		s.WasHasty()
		failure = &Failure{Code: http.StatusTooManyRequests, RetryAfter: int(left/time.Second) + 1}
	case failure != nil && failure.RetryAfter > 0:
		s.Wait(method, time.Duration(failure.RetryAfter)*time.Second)
	}
	s.Mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if failure != nil {
		if failure.Done {
			s.answer(discard{http.Header{}}, r, method, p)
		}
		if failure.Mute {
			<-r.Context().Done()
			return
		}
		failure.tell(w)
		return
	}
	s.answer(w, r, method, p)
}

// check notes what the Bot API does not know. The lock is held.
func (s *Server) check(method string, p params) {
	known, is := methods[method]
	if !is {
		s.Fault("%s: there is no such method here", method)
		return
	}
	for name := range p.all() {
		if !slices.Contains(strings.Fields(known.takes), name) {
			s.Fault("%s: there is no parameter %q", method, name)
		}
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, method string, p params) {
	if method == "getUpdates" {
		s.getUpdates(w, r, p)
		return
	}
	known, is := methods[method]
	if !is {
		refuse(w, http.StatusNotFound, "Not Found: method not found", 0)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	refused := s.tooFast(known, p)
	var result any
	if refused == nil {
		result, refused = known.do(s, p)
	}
	if refused != nil {
		refused.tell(w)
		return
	}
	s.Change()
	accept(w, result)
}

// refusal is Telegram's answer that it does not do what it was asked for.
type refusal struct {
	code       int
	why        string
	retryAfter int
	moved      int64
}

func bad(format string, args ...any) *refusal {
	return &refusal{code: http.StatusBadRequest, why: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func movedTo(chat int64) *refusal {
	r := bad("group chat was upgraded to a supergroup chat")
	r.moved = chat
	return r
}

func (r *refusal) tell(w http.ResponseWriter) {
	if r.moved == 0 {
		refuse(w, r.code, r.why, r.retryAfter)
		return
	}
	write(w, r.code, map[string]any{"ok": false, "error_code": r.code, "description": r.why, "parameters": map[string]any{"migrate_to_chat_id": r.moved}})
}

// params are the parameters of a call.
type params struct {
	values map[string]string
	files  map[string]upload
}

type upload struct {
	name    string
	content []byte
}

func (p params) get(name string) string { return p.values[name] }

func (p params) has(name string) bool { return p.values[name] != "" }

func (p params) is(name string) bool {
	return slices.Contains([]string{"true", "True", "yes", "t", "1"}, p.values[name])
}

func (p params) number(name string) int {
	n, _ := strconv.Atoi(p.values[name]) // 0 when it is not given, as in the Bot API
	return n
}

func (p params) all() map[string]bool {
	names := map[string]bool{}
	for name := range p.values {
		names[name] = true
	}
	for name := range p.files {
		if p.values["document"] != "attach://"+name && p.values["photo"] != "attach://"+name {
			names[name] = true
		}
	}
	return names
}

// parameters reads a call's parameters from the address, from a form or from JSON: the Bot API takes all three.
func parameters(w http.ResponseWriter, r *http.Request) (params, *refusal) {
	const inMemory = 1 << 20
	p := params{map[string]string{}, map[string]upload{}}
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload+inMemory)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var values map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&values); err != nil {
			return p, bad("can't parse JSON object: %v", err)
		}
		for name, value := range values {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			p.values[name] = text
		}
		return p, nil
	}
	tooLarge := &refusal{code: http.StatusRequestEntityTooLarge, why: "Request Entity Too Large"}
	if err := r.ParseMultipartForm(inMemory); err != nil && strings.Contains(err.Error(), "too large") { // a call without parameters has an empty form
		return p, tooLarge
	}
	for name := range r.Form {
		p.values[name] = r.Form.Get(name)
		if !utf8.ValidString(p.values[name]) {
			return p, bad("strings must be encoded in UTF-8")
		}
	}
	if r.MultipartForm == nil {
		return p, nil
	}
	for name, files := range r.MultipartForm.File {
		file, err := files[0].Open()
		if err != nil {
			return p, bad("%v", err)
		}
		content, err := io.ReadAll(file)
		_ = file.Close()
		if err != nil {
			return p, bad("%v", err)
		}
		if len(content) > maxUpload {
			return p, tooLarge
		}
		p.files[name] = upload{files[0].Filename, content}
	}
	return p, nil
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
