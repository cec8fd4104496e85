package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

// A picture reaches the API as one, and a file by its name: Claude may read it. The turn of a picture is found after a kill of claude and
// of the server in the middle of it: it is answered once, without the picture being sent a second time.
func TestPicturesAndFiles(t *testing.T) {
	m := eachVersion(t)
	m.Chats()
	p := m.bridged()
	p.bot.Photo(chatNumber, p.picture(40, 30), telegram.Captioned("What is it?"))
	p.hears("You said: What is it?")
	p.has("You said: What is it?")
	p.noted()
	media, said := p.lastAsked()
	p.Check(strings.Join(media, " ") == "image/png", "the API got %q", media)
	p.Check(strings.Contains(said, "photo.jpg") && strings.Contains(said, "you see it in the message"), "the API got %s", said)

	p.bot.Album(chatNumber, []telegram.Media{
		{Kind: "photo", Content: p.picture(41, 31)}, {Kind: "document", Name: "list.txt", Content: []byte("buy salt")},
	}, telegram.Captioned("[[until killed]] And these?"))
	p.WaitFor("the API is asked", func() (bool, string) {
		asked := p.API.Requests()
		return strings.Contains(asked[len(asked)-1].Last(), "And these?"), ""
	})
	p.has("[[until killed]] And these?")
	p.end(syscall.SIGKILL)
	p.API.Release("killed")
	p.serves()
	p.hears("...")
	p.noted()
	media, said = p.lastAsked()
	p.Check(strings.Join(media, " ") == "image/png image/png", "after the kill, the API got %q", media)
	p.Check(strings.Contains(said, "list.txt"), "the API got %s", said)
	sent := p.bot.Sent(chatNumber)
	p.Check(len(sent) == 2, "the chat was told %q", sent)

	files, err := filepath.Glob(filepath.Join(p.World.Project, ".nbs/conversations/*/files/*list.txt"))
	p.Check(err == nil && len(files) == 1, "the file is kept as %q, %v", files, err)
	p.writes(fmt.Sprintf(`[[tool Read {"file_path":%q}]]`, files[0]), "Tool said: ...")
	last := p.bot.Sent(chatNumber)[2]
	p.Check(strings.Contains(last, "buy salt"), "of the file, Claude said %q", last)
	p.end(syscall.SIGINT)
}

func (p *phone) picture(width, height int) []byte {
	p.Helper()
	var data bytes.Buffer
	p.Must(png.Encode(&data, image.NewRGBA(image.Rect(0, 0, width, height))))
	return data.Bytes()
}

// lastAsked returns the kinds of the pictures in the last request, and all of it.
func (p *phone) lastAsked() (media []string, all string) {
	p.Helper()
	for _, r := range p.API.Requests() {
		var asked struct {
			Messages []struct{ Content json.RawMessage }
		}
		if r.Method != "POST" || r.Side || json.Unmarshal(r.Body, &asked) != nil || len(asked.Messages) == 0 {
			continue
		}
		media, all = nil, string(r.Body)
		for _, m := range asked.Messages {
			var blocks []struct {
				Type   string
				Source struct {
					Media string `json:"media_type"`
				}
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				continue
			}
			for _, b := range blocks {
				if b.Type == "image" {
					media = append(media, b.Source.Media)
				}
			}
		}
	}
	return media, all
}
