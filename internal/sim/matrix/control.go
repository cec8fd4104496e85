package matrix

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func (s *Server) controlRoom(w http.ResponseWriter, r *http.Request) {
	var made struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Members   []string `json:"members"`
		Invite    bool     `json:"invite"` // the bot is invited; otherwise it is in the room
		Encrypted bool     `json:"encrypted"`
	}
	if !decode(w, r, &made) {
		return
	}
	if len(made.Members) == 0 {
		http.Error(w, "a room has members", http.StatusBadRequest)
		return
	}
	s.Room(made.ID, made.Name, made.Members...)
	s.Invite(made.ID, made.Members[0])
	if !made.Invite {
		s.Join(made.ID, Bot)
	}
	if made.Encrypted {
		s.Encrypt(made.ID, made.Members[0])
	}
}

func (s *Server) controlSay(w http.ResponseWriter, r *http.Request) {
	var said Message
	if !decode(w, r, &said) {
		return
	}
	s.Mu.Lock()
	room := s.rooms[said.Room]
	isIn := room != nil && room.members[said.From] == "join"
	s.Mu.Unlock()
	if !isIn {
		http.Error(w, "the user is not in the room", http.StatusNotFound)
		return
	}
	write(w, http.StatusOK, light(s.Write(said)))
}

// light is a message without the content of its file.
func light(m Message) Message {
	if m.Media != nil {
		media := *m.Media
		media.Content = nil
		m.Media = &media
	}
	return m
}

func (s *Server) controlFail(w http.ResponseWriter, r *http.Request) {
	var f Failure
	if decode(w, r, &f) {
		s.Fail(f)
	}
}

func (s *Server) controlFaults(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, append([]string{}, s.Faults()...))
}

// controlShow answers with the room's messages when the wait is over, and with 408 when too few replies are among them.
func (s *Server) controlShow(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	room := query.Get("room")
	number, _ := strconv.Atoi(query.Get("after"))        // 0 when it is not given, like the next two
	replies, _ := strconv.Atoi(query.Get("replies"))     //
	patience, _ := time.ParseDuration(query.Get("wait")) //
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	status := http.StatusOK
	if !s.AwaitChange(ctx, func() bool { return len(bots(slices.Clone(s.after(room, number)))) >= replies }) {
		status = http.StatusRequestTimeout
	}
	s.Mu.Lock()
	messages := []Message{}
	for _, m := range s.after(room, number) {
		messages = append(messages, light(m))
	}
	s.Mu.Unlock()
	write(w, status, messages)
}
