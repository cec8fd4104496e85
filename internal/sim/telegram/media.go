package telegram

import (
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Media is a file in a message.
type Media struct {
	Kind    string `json:"kind"` // photo, document, voice, audio, video, sticker
	Name    string `json:"name,omitempty"`
	MIME    string `json:"mime,omitempty"`
	Emoji   string `json:"emoji,omitempty"` // of a sticker
	Seconds int    `json:"seconds,omitempty"`
	Content []byte `json:"content,omitempty"`
	Size    int64  `json:"size,omitempty"` // that of Content when it is zero
	ID      string `json:"id,omitempty"`   // file_id
}

// Limits of the Bot API.
const (
	maxDownload = 20 << 20
	maxUpload   = 50 << 20
	maxPhoto    = 10 << 20
)

// file is what the Bot API keeps of a file.
type file struct {
	id, path string
	size     int64
	content  []byte
}

// Photo has a user send a picture.
func (s *Server) Photo(chat int64, content []byte, with ...With) Message {
	return s.Send(chat, Media{Kind: "photo", Content: content}, with...)
}

// SendPhoto has the user of a chat send a picture, whatever it shows.
func (s *Server) SendPhoto(chat int64) { s.Photo(chat, []byte("\xff\xd8\xffpicture")) }

// Voice has a user send a voice message.
func (s *Server) Voice(chat int64, content []byte, with ...With) Message {
	return s.Send(chat, Media{Kind: "voice", Content: content, MIME: "audio/ogg", Seconds: 3}, with...)
}

// Document has a user send a file.
func (s *Server) Document(chat int64, name string, content []byte, with ...With) Message {
	return s.Send(chat, Media{Kind: "document", Name: name, Content: content}, with...)
}

// Sticker has a user send a sticker.
func (s *Server) Sticker(chat int64, emoji string, with ...With) Message {
	return s.Send(chat, Media{Kind: "sticker", Emoji: emoji, Content: []byte("sticker")}, with...)
}

// Send has a user send a file of any kind.
func (s *Server) Send(chat int64, media Media, with ...With) Message {
	return s.Write(Message{Chat: chat, Media: &media}, with...)
}

// Album has a user send several files at once. The caption, if there is one, is the first's.
func (s *Server) Album(chat int64, media []Media, with ...With) []Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	album := strconv.Itoa(14000000000000000 + len(s.messages))
	var sent []Message
	for i := range media {
		m := Message{Chat: chat, Media: &media[i], Album: album}
		all := with
		if i > 0 {
			all = append(append([]With{}, with...), func(m *Message) { m.Text, m.Entities = "", nil })
		}
		sent = append(sent, s.write(m, all...))
	}
	return sent
}

// folders are where the Bot API has the files of each kind, and how their names end.
var folders = map[string][2]string{
	"photo": {"photos", ".jpg"}, "document": {"documents", ""}, "voice": {"voice", ".oga"}, "audio": {"music", ".mp3"}, "video": {"videos", ".mp4"},
	"sticker": {"stickers", ".webp"},
}

// hold keeps a file with a file_id. The lock is held.
func (s *Server) hold(id, kind, name string, content []byte, size int64) *file {
	folder := folders[kind]
	end := folder[1]
	if end == "" {
		end = path.Ext(name)
	}
	if size == 0 {
		size = int64(len(content))
	}
	f := &file{id: id, path: fmt.Sprintf("%s/file_%d%s", folder[0], len(s.files), end), size: size, content: content}
	s.files[id] = f
	return f
}

// attach keeps the file of a message. The lock is held.
func (s *Server) attach(m *Media) *Media {
	kept := *m
	kept.ID = fmt.Sprintf("AgAC-%s-%d", kept.Kind, len(s.files)+1)
	kept.Size = s.hold(kept.ID, kept.Kind, kept.Name, kept.Content, kept.Size).size
	if kept.MIME == "" {
		kept.MIME = http.DetectContentType(kept.Content)
	}
	if kept.Kind == "photo" { // a bot that takes the first of the sizes gets this one
		s.hold(kept.ID+small, "photo", "", thumbnail, 0)
	}
	return &kept
}

// small ends the file_id of a picture's smallest size.
const small = "-small"

var thumbnail = []byte("\xff\xd8\xffthumbnail")

// render is a file as it is in a message.
func (m *Media) render() any {
	about := func(id string, size int64, more map[string]any) map[string]any {
		more["file_id"], more["file_unique_id"], more["file_size"] = id, "AQAD"+strings.TrimPrefix(id, "AgAC"), size
		return more
	}
	switch m.Kind {
	case "photo":
		return []any{
			about(m.ID+small, int64(len(thumbnail)), map[string]any{"width": 90, "height": 67}),
			about(m.ID, m.Size, map[string]any{"width": 1280, "height": 960}),
		}
	case "sticker":
		return about(m.ID, m.Size, map[string]any{"type": "regular", "emoji": m.Emoji, "width": 512, "height": 512, "is_animated": false, "is_video": false})
	}
	more := map[string]any{"mime_type": m.MIME}
	if m.Name != "" {
		more["file_name"] = m.Name
	}
	if m.Kind != "document" {
		more["duration"] = m.Seconds
	}
	if m.Kind == "video" {
		more["width"], more["height"] = 640, 480
	}
	return about(m.ID, m.Size, more)
}

// getFile answers with a file's path.
func (s *Server) getFile(p params) (any, *refusal) {
	f := s.files[p.get("file_id")]
	switch {
	case f == nil:
		return nil, bad("wrong file_id or the file is temporarily unavailable")
	case f.size > maxDownload:
		return nil, bad("file is too big")
	}
	return map[string]any{"file_id": f.id, "file_unique_id": "AQAD" + strings.TrimPrefix(f.id, "AgAC"), "file_size": f.size, "file_path": f.path}, nil
}

// download serves a file by its path.
func (s *Server) download(w http.ResponseWriter, _ *http.Request, name string) {
	s.Mu.Lock()
	s.Count("file") // a held one is served nevertheless
	failure := s.failure("file")
	var found *file
	for _, f := range s.files {
		if f.path == name {
			found = f
		}
	}
	s.Mu.Unlock()
	switch {
	case failure != nil:
		failure.tell(w)
	case found == nil:
		refuse(w, http.StatusNotFound, "Not Found", 0)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(found.content) // a bot that is gone does not read it
	}
}
