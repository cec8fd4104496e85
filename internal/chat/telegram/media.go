package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
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

// hasFile reports whether a message has a file that can be fetched.
func (m *media) hasFile() bool {
	return len(m.Photo) > 0 || m.Document != nil || m.Voice != nil || m.Audio != nil
}

// Limits of what is fetched.
const (
	fetchLimit = 20 << 20 // bytes: a bot cannot fetch more
	photoLimit = 3 << 20  // bytes of a photo; it is sent in several sizes
	shownLimit = 16 << 20 // bytes of all pictures in one message to Claude; further ones it gets as files
	heardLimit = 300      // characters of what was heard, for the chat
)

// fetch gets and keeps the files of a message, and turns a voice message into text. It returns false if the message is
// not passed on: then the chat was told why.
func (b *Bridge) fetch(ctx context.Context, c *chat, m *incoming) bool {
	shown := 0
	for _, part := range m.messages {
		file, name := part.file()
		if file == nil {
			continue
		}
		isVoice := part.Voice != nil || part.Audio != nil
		if isVoice && b.Transcribe == nil {
			return b.refuse(ctx, c, m, "I cannot listen to "+name+": nbs-worker serve runs without --transcribe-cmd.")
		}
		kept, path, err := b.keep(ctx, c, m, file)
		if err == nil && isVoice {
			err = b.listen(ctx, m, path)
		}
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			b.log("take a file of %s: %v", c.place, err)
			return b.refuse(ctx, c, m, "I could not take "+name+": "+b.words(err)+".")
		case isVoice:
			continue
		}
		if shown += kept.Size; shown > shownLimit {
			kept.Shown = false
		}
		m.Files = append(m.Files, kept)
	}
	if m.Text == "" && len(m.Files) == 0 {
		return b.refuse(ctx, c, m, "I cannot read "+cmp.Or(m.message.unreadable(), "that")+".")
	}
	m.Text = cmp.Or(m.Text, "(The message has no words, only "+human.Count(len(m.Files), "file")+".)")
	return true
}

// refuse tells the chat why a message is not passed on.
func (b *Bridge) refuse(ctx context.Context, c *chat, m *incoming, why string) bool {
	if b.say(ctx, c, why+" Your message was not passed on.") == nil {
		m.done()
	}
	return false
}

// file returns the file of a message that is fetched, and its kind in words.
func (m *media) file() (file *attached, name string) {
	switch {
	case m.unreadable() != "":
		return nil, ""
	case len(m.Photo) > 0:
		best := m.Photo[0]
		for _, size := range m.Photo {
			if size.Width*size.Height > best.Width*best.Height && size.Size <= photoLimit {
				best = size
			}
		}
		best.Name, best.Type = "photo.jpg", "image/jpeg"
		return &best, "the picture"
	case m.Voice != nil:
		voice := *m.Voice
		voice.Name = "voice.ogg"
		return &voice, "the voice message"
	case m.Audio != nil:
		return m.Audio, "the recording"
	case m.Document != nil:
		return m.Document, "the file"
	}
	return nil, ""
}

// keep fetches a file and keeps it. It tries again while Telegram cannot be reached, or the disk is full: that is told.
// Errors: the context's, and those that stay.
func (b *Bridge) keep(ctx context.Context, c *chat, m *incoming, file *attached) (kept File, path string, err error) {
	content, err := b.fetchFile(ctx, c, file)
	if err != nil {
		return File{}, "", err
	}
	n, wait := len(m.Files), b.backoff()
	for told := false; ; told = true {
		kept, path, err = b.Chats.Keep(ctx, c.key, m.ID, n, File{Name: file.Name, Type: file.Type}, content)
		if err == nil || ctx.Err() != nil || isRefusal(err) {
			return kept, path, err
		}
		b.log("keep a file of %s: %v: it is tried again", c.place, err)
		if !told {
			_ = b.say(ctx, c, "Your file could not be kept yet: "+b.words(err)+". It is tried again until it can.")
		}
		if err := clock.Sleep(ctx, wait.NextBackOff()); err != nil {
			return kept, path, err
		}
	}
}

// A file is not waited for without end: the messages behind it wait too.
const (
	fetchTries = 8 // they take about two minutes
	fetchFor   = 10 * time.Minute
	fetchSpeed = 32 << 10 // bytes a second that a fetch may take
)

// fetchFile fetches a file. It tries again while Telegram cannot be reached, and for a while when it does not give the
// file. Errors: the context's, and those that stay.
func (b *Bridge) fetchFile(ctx context.Context, c *chat, file *attached) ([]byte, error) {
	began, wait := time.Now(), b.backoff()
	for tries := 0; ; {
		content, err := b.download(ctx, file)
		refused := refusedIn(err).Code
		switch {
		case err == nil, ctx.Err() != nil, isRefusal(err):
			return content, err
		case isFinal(err):
			return nil, fail.Errorf(fail.Failed, "Telegram refused it: %w", err)
		case refused >= http.StatusInternalServerError, errors.Is(err, errFetch):
			if tries++; tries == fetchTries || time.Since(began) > fetchFor {
				return nil, err
			}
		}
		b.log("take a file of %s: %v: it is tried again", c.place, err)
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return nil, err
		}
	}
}

// errFetch is wrapped when Telegram knows a file and does not give it.
var errFetch = errors.New("fetch a file")

// download fetches a file once. Errors: BadInput when it is too large; refusedError; errFetch.
func (b *Bridge) download(ctx context.Context, file *attached) ([]byte, error) {
	tooLarge := fail.Errorf(fail.BadInput, "it has more than %s, which is all that a bot can fetch", human.Bytes(fetchLimit))
	if file.Size > fetchLimit {
		return nil, tooLarge
	}
	var at struct {
		Path string `json:"file_path"`
	}
	ctx, cancel := context.WithTimeout(ctx, patience+time.Duration(cmp.Or(file.Size, fetchLimit)/fetchSpeed)*time.Second)
	defer cancel()
	if err := b.call(ctx, "getFile", map[string]any{"file_id": file.ID}, &at); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/file/bot"+b.Token.text+"/"+at.Path, nil)
	if err != nil {
		return nil, err
	}
	response, err := b.client.Do(request)
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

// listen adds what was said in a voice message to its text.
func (b *Bridge) listen(ctx context.Context, m *incoming, path string) error {
	said, err := b.Transcribe(ctx, path)
	said = strings.TrimSpace(said)
	if err == nil && said == "" {
		err = errors.New("no words were understood")
	}
	if err != nil {
		return err
	}
	m.Text = strings.TrimPrefix(m.Text+"\n"+said, "\n")
	m.heard = quoted(human.OneLine(said), heardLimit)
	m.Context = strings.TrimPrefix(m.Context+"\nThe message was spoken; a program wrote it down.", "\n")
	return nil
}
