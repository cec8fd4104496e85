package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// media is what a message contains besides text.
type media struct {
	Photo    []attached `json:"photo"` // the same in several sizes
	Document *attached  `json:"document"`
	Voice    *attached  `json:"voice"`
	Audio    *attached  `json:"audio"`
	Album    string     `json:"media_group_id"`

	Animation json.RawMessage `json:"animation"` // it has a document too
	Video     json.RawMessage `json:"video"`
	VideoNote json.RawMessage `json:"video_note"`
	Sticker   json.RawMessage `json:"sticker"`
	Location  json.RawMessage `json:"location"`
	Venue     json.RawMessage `json:"venue"` // it has a location too
	Contact   json.RawMessage `json:"contact"`
	Poll      json.RawMessage `json:"poll"`
	Dice      json.RawMessage `json:"dice"`
	Story     json.RawMessage `json:"story"`
	Checklist json.RawMessage `json:"checklist"`
	PaidMedia json.RawMessage `json:"paid_media"`
	Game      json.RawMessage `json:"game"`
}

// attached is a file of a message.
type attached struct {
	ID     string `json:"file_id"`
	Name   string `json:"file_name"`
	Type   string `json:"mime_type"`
	Size   int64  `json:"file_size"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// unreadable names the content that the bot cannot read; "" without such content.
func (m *media) unreadable() string {
	for _, kind := range []struct {
		content json.RawMessage
		name    string
	}{
		{m.Animation, "an animation"}, {m.Video, "a video"}, {m.VideoNote, "a video"}, {m.Sticker, "a sticker"}, {m.Venue, "a place"}, {m.Location, "a location"},
		{m.Contact, "a contact"}, {m.Poll, "a poll"}, {m.Dice, "a die"}, {m.Story, "a story"}, {m.Checklist, "a checklist"}, {m.PaidMedia, "paid media"}, {m.Game, "a game"},
	} {
		if len(kind.content) > 0 {
			return kind.name
		}
	}
	return ""
}

// Limits of what is fetched.
const (
	fetchLimit = 20 << 20 // bytes: a bot cannot fetch more
	photoLimit = 3 << 20  // bytes of a photo; it is sent in several sizes
	fetchSpeed = 32 << 10 // bytes a second that a fetch may take
)

// file returns the file of a message that is fetched; nil if it has none.
func (m *media) file() *bridge.Attachment {
	switch {
	case m.unreadable() != "":
		return nil
	case len(m.Photo) > 0:
		best := m.Photo[0]
		for _, size := range m.Photo {
			if size.Width*size.Height > best.Width*best.Height && size.Size <= photoLimit {
				best = size
			}
		}
		best.Name, best.Type = "photo.jpg", "image/jpeg"
		return best.as("the picture", false)
	case m.Voice != nil:
		voice := *m.Voice
		voice.Name = "voice.ogg"
		return voice.as("the voice message", true)
	case m.Audio != nil:
		return m.Audio.as("the recording", true)
	case m.Document != nil:
		return m.Document.as("the file", false)
	}
	return nil
}

func (a *attached) as(kind string, voice bool) *bridge.Attachment {
	return &bridge.Attachment{Ref: a.ID, Kind: kind, Name: a.Name, Type: a.Type, Size: a.Size, Voice: voice}
}

// Fetch implements [bridge.System].
func (s *System) Fetch(ctx context.Context, a bridge.Attachment) ([]byte, error) {
	content, err := s.download(ctx, a)
	switch {
	case err == nil:
		return content, nil
	case fail.KindOf(err) == fail.BadInput:
		return nil, &bridge.Failure{Err: err, Final: true}
	case isFinal(err):
		return nil, &bridge.Failure{Err: fail.Errorf(fail.Failed, "Telegram refused it: %w", err), Final: true}
	}
	err = failed(err)
	if failure, is := errors.AsType[*bridge.Failure](err); is {
		failure.Withheld = errors.Is(err, errFetch) || refusedIn(err).Code >= http.StatusInternalServerError
	}
	return nil, err
}

// errFetch is wrapped when Telegram knows a file and does not give it.
var errFetch = errors.New("fetch a file")

// download fetches a file once. Errors: BadInput when it is too large; refusedError; errFetch.
func (s *System) download(ctx context.Context, file bridge.Attachment) ([]byte, error) {
	tooLarge := fail.Errorf(fail.BadInput, "it has more than %s, which is all that a bot can fetch", human.Bytes(fetchLimit))
	if file.Size > fetchLimit {
		return nil, tooLarge
	}
	var at struct {
		Path string `json:"file_path"`
	}
	ctx, cancel := context.WithTimeout(ctx, patience+time.Duration(cmp.Or(file.Size, fetchLimit)/fetchSpeed)*time.Second)
	defer cancel()
	if err := s.call(ctx, "getFile", map[string]any{"file_id": file.Ref}, &at); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/file/bot"+s.token.text+"/"+at.Path, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFetch, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %d", errFetch, response.StatusCode) // its path is valid for an hour: the next attempt asks for it
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, fetchLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errFetch, err)
	case len(content) > fetchLimit:
		return nil, tooLarge
	}
	return content, nil
}
