package serve

import (
	"context"
	"encoding/json"
	"net/http"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
)

// routes returns the handler of the socket's routes.
func (s *Server) routes(serving context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.looks())
	mux.HandleFunc("POST /turn", func(w http.ResponseWriter, r *http.Request) { s.turn(serving, w, r) })
	mux.HandleFunc("POST /tell", s.tell)
	mux.HandleFunc("POST /run", func(w http.ResponseWriter, r *http.Request) { s.run(serving, w, r) })
	return mux
}

// turn runs an accepted turn, and sends its result to the caller.
func (s *Server) turn(serving context.Context, w http.ResponseWriter, r *http.Request) {
	var asked client.Turn
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&asked); err != nil {
		http.Error(w, "a turn is not named like that", http.StatusBadRequest)
		return
	}
	flush := http.NewResponseController(w)
	out := json.NewEncoder(w)
	tell := func(t client.Told) { _, _ = out.Encode(t), flush.Flush() } // an error means that the caller has left
	_ = flush.Flush()
	said, leave := s.listenTo(asked)
	defer leave()
	done := make(chan client.Told, 1)
	go func() { // it continues after the caller has left: the turn is accepted
		result, err := s.Engine.Await(serving, asked.Key, asked.ID)
		switch {
		case err == nil:
			done <- client.Told{Result: &result}
		case serving.Err() != nil: // without a result the caller runs the turn itself
			done <- client.Told{}
		default:
			done <- client.Told{Error: client.FailureOf(err)}
		}
	}()
	for {
		select {
		case text := <-said:
			tell(client.Told{Text: text})
		case last := <-done:
			for len(said) > 0 {
				tell(client.Told{Text: <-said})
			}
			tell(last)
			return
		case <-r.Context().Done():
			leave()
			<-done // the server must not end before the turn
			return
		}
	}
}

// listenTo returns the parts of a turn's answer as they are written, until leave is called.
func (s *Server) listenTo(asked client.Turn) (said chan string, leave func()) {
	const kept = 1024 // parts
	said = make(chan string, kept)
	if !asked.Stream {
		return said, func() {}
	}
	return said, s.Hear(asked.Key, asked.ID, func(p conversation.Progress) {
		if p.Tool != "" {
			return
		}
		select {
		case said <- p.Text:
		default: // a slow listener gets the whole answer at the end
		}
	})
}

// run runs a schedule by hand. It goes on when the caller has left.
func (s *Server) run(serving context.Context, w http.ResponseWriter, r *http.Request) {
	var asked client.Scheduled
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&asked); err != nil || s.Scheduled == nil {
		http.Error(w, "a schedule is not named like that", http.StatusBadRequest)
		return
	}
	var t client.Told
	if err := s.Scheduled(serving, asked.Name, asked.At); err != nil {
		t.Error = client.FailureOf(err)
	}
	_ = json.NewEncoder(w).Encode(t) // an error means that the caller has left
}

// tell writes to a chat.
func (s *Server) tell(w http.ResponseWriter, r *http.Request) {
	const longest = 1 << 20 // bytes
	var m client.Message
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longest)).Decode(&m)
	switch {
	case err != nil:
		err = fail.Errorf(fail.BadInput, "the message cannot be read, or is too long: %w", err)
	case s.Tell == nil:
		err = client.ErrNoBridge()
	default:
		err = s.deliver(r.Context(), m.To, "nbs-worker tell", m.Text, s.Tell)
	}
	var t client.Told
	if err != nil {
		t.Error = client.FailureOf(err)
	}
	_ = json.NewEncoder(w).Encode(t) // an error means that the caller has left
}
