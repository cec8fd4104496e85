package matrix

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// message is the content of a message of the bot's.
type message struct {
	Kind     string         `json:"msgtype"`
	Body     string         `json:"body"`
	Format   string         `json:"format,omitempty"`
	HTML     string         `json:"formatted_body,omitempty"`
	FileName string         `json:"filename,omitempty"`
	URL      string         `json:"url,omitempty"`
	Info     map[string]any `json:"info,omitempty"`
	Mentions struct{}       `json:"m.mentions"` // no user gets notice of it because of its words
	New      *message       `json:"m.new_content,omitempty"`
	Relates  map[string]any `json:"m.relates_to,omitempty"`
}

// contentOf returns the content of a message.
func contentOf(m bridge.Message) message {
	text, html := m.Before+m.Text, ""
	if of, is := m.Format.(string); is && of != "" {
		html = paragraph(m.Before) + of
	}
	if len(m.Choices) > 0 {
		var lines, items strings.Builder
		for _, c := range m.Choices {
			command := "!" + strings.TrimPrefix(c.Command, "/") // see spoken
			lines.WriteString("\n" + c.Label + ": " + command)
			items.WriteString("<li>" + escape(c.Label) + ": <code>" + escape(command) + "</code></li>")
		}
		if html == "" {
			html = paragraph(text)
		}
		text += lines.String()
		html += "<ul>" + items.String() + "</ul>"
	}
	c := message{Kind: "m.text", Body: text}
	if html != "" {
		c.Format, c.HTML = "org.matrix.custom.html", html
	}
	if m.Quiet {
		c.Kind = "m.notice"
	}
	return c
}

// edited returns the content of an event that changes a message.
func edited(id string, m message) message {
	return message{Kind: m.Kind, Body: "* " + m.Body, New: &m, Relates: map[string]any{"rel_type": "m.replace", "event_id": id}}
}

// Send implements [bridge.System].
func (s *System) Send(ctx context.Context, to bridge.Place, id string, m bridge.Message) (bridge.Sent, error) {
	return s.send(ctx, to, id, contentOf(m))
}

func (s *System) send(ctx context.Context, to bridge.Place, id string, m message) (bridge.Sent, error) {
	if to.Topic != "" {
		m.Relates = map[string]any{"rel_type": "m.thread", "event_id": to.Topic, "is_falling_back": true, "m.in_reply_to": map[string]any{"event_id": to.Topic}}
	}
	return s.put(ctx, to.Chat, id, m)
}

// put makes an event of a message: one, however often it is called with an id.
func (s *System) put(ctx context.Context, room, id string, m message) (bridge.Sent, error) {
	var sent struct {
		ID string `json:"event_id"`
	}
	err := s.call(ctx, http.MethodPut, ofRoom(room, "send", typeMessage, id), m, &sent)
	return bridge.Sent{Chat: room, Message: sent.ID}, err
}

// Edit implements [bridge.System]. A homeserver takes an edit of a deleted message too, which shows nowhere.
func (s *System) Edit(ctx context.Context, at bridge.Sent, m bridge.Message) error {
	of, err := s.event(ctx, at.Chat, at.Message)
	switch {
	case err != nil:
		return err
	case of == nil:
		return &bridge.Failure{Err: fail.Errorf(fail.Failed, "the message is gone"), Final: true}
	}
	_, err = s.put(ctx, at.Chat, rand.Text(), edited(at.Message, contentOf(m))) // an id of what it says would make the third edit of A, B, A none
	return err
}

// Delete implements [bridge.System].
func (s *System) Delete(ctx context.Context, at bridge.Sent) error {
	return s.call(ctx, http.MethodPut, ofRoom(at.Chat, "redact", at.Message, "delete:"+at.Message), map[string]any{}, nil)
}

// typingShown is how long a client shows that the bot writes.
const typingShown = 20 * time.Second

// Typing implements [bridge.System].
func (s *System) Typing(ctx context.Context, to bridge.Place, is bool) error {
	content := map[string]any{"typing": is}
	if is {
		content["timeout"] = typingShown.Milliseconds()
	}
	return s.call(ctx, http.MethodPut, ofRoom(to.Chat, "typing", s.me), content, nil)
}

// Time limits of the transfer of a file.
const (
	uploadPatience = 10 * time.Minute
	fetchPatience  = 5 * time.Minute
)

// Upload implements [bridge.System].
func (s *System) Upload(ctx context.Context, to bridge.Place, id string, f bridge.Upload) (err error) {
	ctx, end := context.WithTimeout(ctx, uploadPatience)
	defer end()
	length, err := f.Content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return &bridge.Failure{Err: err, Final: true}
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(f.Name)), ";")
	if kind == "" {
		kind = "application/octet-stream"
	}
	content := &reading{Reader: f.Content}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Homeserver+"/_matrix/media/v3/upload?filename="+url.QueryEscape(f.Name), io.NopCloser(content))
	if err != nil {
		return err
	}
	request.ContentLength = length
	request.Header.Set("Content-Type", kind)
	var kept struct {
		URI string `json:"content_uri"`
	}
	if err := s.read(request, &kept); err != nil {
		if content.failed != nil {
			return &bridge.Failure{Err: fail.Errorf(fail.Failed, "%w", content.failed), Final: true}
		}
		return err
	}
	m := message{Kind: "m.file", Body: f.Name, FileName: f.Name, URL: kept.URI, Info: map[string]any{"mimetype": kind, "size": length}}
	if f.Caption != "" {
		m.Body = f.Caption
	}
	for _, known := range []string{"image", "audio", "video"} {
		if strings.HasPrefix(kind, known+"/") {
			m.Kind = "m." + known
		}
	}
	_, err = s.send(ctx, to, id, m)
	return err
}

// reading keeps the error of reading a file apart from one of the network.
type reading struct {
	io.Reader
	failed error
}

func (r *reading) Read(p []byte) (n int, err error) {
	if n, err = r.Reader.Read(p); err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}

// Fetch implements [bridge.System].
func (s *System) Fetch(ctx context.Context, a bridge.Attachment) ([]byte, error) {
	tooLarge := &bridge.Failure{Err: fail.Errorf(fail.BadInput, "it is larger than %s", human.Bytes(fetchLimit)), Final: true}
	server, id, is := strings.Cut(strings.TrimPrefix(a.Ref, "mxc://"), "/")
	switch {
	case !is || server == "" || id == "" || strings.Contains(id, "/"):
		return nil, &bridge.Failure{Err: fail.Errorf(fail.BadInput, "it has no address"), Final: true}
	case a.Size > fetchLimit:
		return nil, tooLarge
	}
	ctx, end := context.WithTimeout(ctx, fetchPatience)
	defer end()
	address := fmt.Sprintf("%s/_matrix/client/v1/media/download/%s/%s", s.Homeserver, url.PathEscape(server), url.PathEscape(id))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.do(request)
	if err != nil {
		if f := bridge.FailureOf(err); f.Err != nil && !f.NotDone {
			f.Withheld = true
			return nil, &f
		}
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, fetchLimit+1))
	if err == nil && len(content) > fetchLimit {
		return nil, tooLarge
	}
	return content, err
}
