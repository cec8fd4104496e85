package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// method is an endpoint of the client-server API.
type method struct {
	name    string // of it in tests: send, sync
	pattern string
	query   string // names of its query parameters, as published
	open    bool   // it needs no token
	do      func(s *Server, w http.ResponseWriter, r *http.Request)
}

const v3 = " /_matrix/client/v3/"

var methods []method

func init() {
	methods = []method{
		{"versions", "GET /_matrix/client/versions", "", true, (*Server).getVersions},
		{"whoami", "GET" + v3 + "account/whoami", "", false, (*Server).whoami},
		{"sync", "GET" + v3 + "sync", "filter since full_state set_presence timeout", false, (*Server).sync},
		{"messages", "GET" + v3 + "rooms/{room}/messages", "from to dir limit filter", false, (*Server).messages},
		{"event", "GET" + v3 + "rooms/{room}/event/{event}", "", false, (*Server).getEvent},
		{"send", "PUT" + v3 + "rooms/{room}/send/{type}/{txn}", "", false, (*Server).send},
		{"redact", "PUT" + v3 + "rooms/{room}/redact/{event}/{txn}", "", false, (*Server).redact},
		{"typing", "PUT" + v3 + "rooms/{room}/typing/{user}", "", false, (*Server).setTyping},
		{"join", "POST" + v3 + "rooms/{room}/join", "", false, (*Server).join},
		{"leave", "POST" + v3 + "rooms/{room}/leave", "", false, (*Server).leave},
		{"upload", "POST /_matrix/media/v3/upload", "filename", false, (*Server).upload},
		{"config", "GET /_matrix/client/v1/media/config", "", false, (*Server).config},
		{"download", "GET /_matrix/client/v1/media/download/{server}/{media}", "timeout_ms", false, (*Server).download},
	}
}

// check notes what the API does not know about a request. The lock is held.
func (s *Server) check(m method, r *http.Request) {
	for name := range r.URL.Query() {
		switch {
		case name == "access_token":
			s.Fault("%s: the token is in the address", m.name)
		case !slices.Contains(strings.Fields(m.query), name):
			s.Fault("%s: there is no query parameter %q", m.name, name)
		}
	}
	body := r.Method == http.MethodPut || r.Method == http.MethodPost
	if kind := r.Header.Get("Content-Type"); body && m.name != "upload" && kind != "application/json" {
		s.Fault("%s: the content type is %q", m.name, kind)
	}
}

// known notes fields of an object that the API does not have. The lock is held.
func (s *Server) known(what string, object map[string]any, fields string) {
	for name := range object {
		if !slices.Contains(strings.Fields(fields), name) {
			s.Fault("%s has no field %q", what, name)
		}
	}
}

// body reads the JSON object of a request.
func body(r *http.Request) (map[string]any, *refusal) {
	raw, err := io.ReadAll(r.Body)
	var object map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &object)
	}
	if err != nil {
		return nil, refused(http.StatusBadRequest, "M_NOT_JSON", "Content not JSON.")
	}
	return object, nil
}

// answer tells the outcome of a call.
func answer(w http.ResponseWriter, result any, refused *refusal) {
	if refused != nil {
		refused.tell(w)
		return
	}
	write(w, http.StatusOK, result)
}

func (s *Server) getVersions(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"versions": strings.Fields(s.versions), "unstable_features": map[string]any{}})
}

func (s *Server) whoami(w http.ResponseWriter, _ *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	write(w, http.StatusOK, map[string]any{"user_id": Bot, "device_id": s.device, "is_guest": false})
}

// refusal is the standard error response.
type refusal struct {
	status    int
	code, why string
	more      map[string]any
}

func refused(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, why: fmt.Sprintf(format, args...)}
}

func (r *refusal) tell(w http.ResponseWriter) {
	object := map[string]any{"errcode": r.code, "error": r.why}
	for name, value := range r.more {
		object[name] = value
	}
	if wait, is := object["retry_after_ms"].(int); is {
		w.Header().Set("Retry-After", strconv.Itoa((wait+999)/1000))
	}
	write(w, r.status, object)
}

func write(w http.ResponseWriter, status int, object any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(object) // all of it is of the simulator
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // a bot that is gone does not read it
}

// discard takes the answer of a call that is carried out but whose answer is lost.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(data []byte) (int, error) { return len(data), nil }
func (d discard) WriteHeader(int)                {}
