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
		s.Mu.Lock()
		known := s.chat(said.Chat) != nil
		s.Mu.Unlock()
		if !known {
			http.Error(w, "there is no such group", http.StatusNotFound)
			return
		}
		write(w, http.StatusOK, shown(s.Write(said)))
	}
}

func (s *Server) controlEdit(w http.ResponseWriter, r *http.Request) {
	var to Message
	if decode(w, r, &to) {
		write(w, http.StatusOK, shown(s.Edit(to.Chat, to.Number, to.Text)))
	}
}

func (s *Server) controlPress(w http.ResponseWriter, r *http.Request) {
	var pressed struct {
		Message

		Data string `json:"data"`
	}
	if decode(w, r, &pressed) {
		write(w, http.StatusOK, map[string]any{"query": s.Press(pressed.From, pressed.Chat, pressed.Number, pressed.Data)})
	}
}

func (s *Server) controlUser(w http.ResponseWriter, r *http.Request) {
	var user User
	if decode(w, r, &user) {
		s.Know(user)
	}
}

func (s *Server) controlGroup(w http.ResponseWriter, r *http.Request) {
	var group struct {
		ID    int64  `json:"id"`
		Title string `json:"title"`
		Kind  string `json:"kind"`
	}
	if !decode(w, r, &group) {
		return
	}
	switch group.Kind {
	case "group":
		s.Group(group.ID, group.Title)
	case "forum":
		s.Forum(group.ID, group.Title)
	default:
		s.Supergroup(group.ID, group.Title)
	}
}

func (s *Server) controlTopic(w http.ResponseWriter, r *http.Request) {
	var topic struct {
		Chat int64  `json:"chat"`
		From int64  `json:"from"`
		Name string `json:"name"`
	}
	if decode(w, r, &topic) {
		write(w, http.StatusOK, map[string]any{"topic": s.Topic(topic.Chat, topic.From, topic.Name)})
	}
}

func (s *Server) controlWebhook(w http.ResponseWriter, r *http.Request) {
	var to struct {
		URL string `json:"url"`
	}
	if decode(w, r, &to) {
		s.SetWebhook(to.URL)
	}
}

func (s *Server) controlFaults(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, append([]string{}, s.Faults()...))
}

// shown is a message without the content of its file.
func shown(m Message) Message {
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
	if !s.AwaitChange(ctx, func() bool { return len(texts(s.after(chat, number))) >= replies }) {
		status = http.StatusRequestTimeout
	}
	s.Mu.Lock()
	messages := []Message{}
	for _, m := range s.after(chat, number) {
		messages = append(messages, shown(m))
	}
	s.Mu.Unlock()
	write(w, status, messages)
}
