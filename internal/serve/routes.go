package serve

import (
	"context"
	"encoding/json"
	"net/http"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/conversations"
)

// wanted is a turn whose result a caller waits for.
type wanted struct {
	Key    conversations.Key `json:"key"`
	ID     string            `json:"id"`
	Stream bool              `json:"stream,omitempty"`
}

// told is a line of the answer: what is being said, then the result or the error.
type told struct {
	Text   string                `json:"text,omitempty"`
	Result *conversations.Result `json:"result,omitempty"`
	Error  *failure              `json:"error,omitempty"`
}

type failure struct {
	Kind  agent.Kind `json:"kind"`
	Words string     `json:"words"`
	Hints []string   `json:"hints,omitempty"`
}

func failureOf(err error) *failure {
	return &failure{Kind: agent.KindOf(err), Words: err.Error(), Hints: agent.HintsOf(err)}
}

func (f *failure) error() error {
	err := agent.Errorf(f.Kind, "%s", f.Words)
	for _, hint := range f.Hints {
		err = err.Hint("%s", hint)
	}
	return err
}

// routes are those of the socket.
func (s *Server) routes(serving context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.looks())
	mux.HandleFunc("POST /turn", func(w http.ResponseWriter, r *http.Request) { s.turn(serving, w, r) })
	mux.HandleFunc("POST /tell", s.tell)
	return mux
}

// turn runs a turn that is accepted, and tells its result.
func (s *Server) turn(serving context.Context, w http.ResponseWriter, r *http.Request) {
	var asked wanted
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&asked); err != nil {
		http.Error(w, "a turn is not named like that", http.StatusBadRequest)
		return
	}
	flush := http.NewResponseController(w)
	out := json.NewEncoder(w)
	tell := func(t told) { _, _ = out.Encode(t), flush.Flush() } // who has left hears nothing
	_ = flush.Flush()
	said, leave := s.listenTo(asked)
	defer leave()
	done := make(chan told, 1)
	go func() { // it goes on when the caller has left: the turn is accepted
		result, err := s.Engine.Await(serving, asked.Key, asked.ID)
		switch {
		case err == nil:
			done <- told{Result: &result}
		case serving.Err() != nil: // without a last word the caller goes on by itself
			done <- told{}
		default:
			done <- told{Error: failureOf(err)}
		}
	}()
	for {
		select {
		case text := <-said:
			tell(told{Text: text})
		case last := <-done:
			for len(said) > 0 {
				tell(told{Text: <-said})
			}
			tell(last)
			return
		case <-r.Context().Done():
			leave()
			<-done // the server is not over before
			return
		}
	}
}

// listenTo hears what a turn says, until leave.
func (s *Server) listenTo(asked wanted) (said chan string, leave func()) {
	const kept = 1024 // parts
	said = make(chan string, kept)
	if !asked.Stream {
		return said, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hearing[said] = asked
	return said, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hearing, said)
	}
}

// message is one for a chat.
type message struct {
	To   string `json:"to"` // the key of its conversation
	Text string `json:"text"`
}

// tell writes to a chat.
func (s *Server) tell(w http.ResponseWriter, r *http.Request) {
	const longest = 1 << 20 // bytes
	var m message
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longest)).Decode(&m)
	switch {
	case err != nil:
		err = agent.Errorf(agent.BadInput, "the message is not to be understood, or too long: %w", err)
	case s.Tell == nil:
		err = errNoBridge()
	default:
		err = s.Tell(r.Context(), m.To, m.Text)
	}
	var t told
	if err != nil {
		t.Error = failureOf(err)
	}
	_ = json.NewEncoder(w).Encode(t) // who has left hears nothing
}

func errNoBridge() error {
	return agent.Errorf(agent.Unfit, "there is no bridge to chats").
		Hint("nbs-worker serve --telegram-token-file FILE --telegram-chat ID")
}
