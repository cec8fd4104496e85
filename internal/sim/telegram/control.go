package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

func (s *Server) controlSay(w http.ResponseWriter, r *http.Request) {
	var said Message
	if decode(w, r, &said) {
		write(w, http.StatusOK, s.Say(said.Chat, said.Text))
	}
}

func (s *Server) controlFail(w http.ResponseWriter, r *http.Request) {
	var f Failure
	if decode(w, r, &f) {
		s.Fail(f)
	}
}

func (s *Server) controlBlock(w http.ResponseWriter, r *http.Request) {
	var who struct {
		Chat    int64 `json:"chat"`
		Blocked bool  `json:"blocked"`
	}
	if decode(w, r, &who) {
		s.Block(who.Chat, who.Blocked)
	}
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// controlChat answers with the chat's messages when the wait is over, and with 408 when too few replies are among them.
func (s *Server) controlChat(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	chat, err := strconv.ParseInt(query.Get("chat"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	number, _ := strconv.Atoi(query.Get("after"))        // 0 when it is not given, like the next two
	replies, _ := strconv.Atoi(query.Get("replies"))     //
	patience, _ := time.ParseDuration(query.Get("wait")) //
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	status := http.StatusOK
	if !s.await(ctx, func() bool { return len(texts(s.after(chat, number))) >= replies }) {
		status = http.StatusRequestTimeout
	}
	s.mu.Lock()
	messages := append([]Message{}, s.after(chat, number)...)
	s.mu.Unlock()
	write(w, status, messages)
}
