package bridge

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// giveFile sends the file that a user asks for. The error is for the user, or the context's.
func (b *Bridge) giveFile(ctx context.Context, c *chat, path string) (reply string, err error) {
	if path == "" {
		return "Write: /file PATH", nil
	}
	f, err := b.Chats.File(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch size := info.Size(); {
	case size < b.traits.MinFile:
		return "", fail.Errorf(fail.BadInput, "%s is empty, and %s takes no empty file", human.Quote(path), b.traits.Title)
	case size > b.traits.MaxFile:
		return "", fail.Errorf(fail.BadInput, "%s is larger than %d MB, and %s takes no larger file", human.Quote(path), b.traits.MaxFile/1_000_000, b.traits.Title)
	}
	const looked = 1 << 20
	start, err := io.ReadAll(io.LimitReader(f, looked))
	if err != nil {
		return "", err
	}
	if text := string(start); b.hide(text) != text {
		return "", fail.Errorf(fail.BadInput, "%s has the bot's token", human.Quote(path))
	}
	return "", b.write(ctx, c, func() error {
		return b.sendFile(ctx, c.place, rand.Text(), Upload{Name: info.Name(), Content: f})
	})
}

// sendFile sends a file. The id is the same when the next bridge does so again. Errors: those of send, and of its content.
func (b *Bridge) sendFile(ctx context.Context, to Place, id string, f Upload) error {
	return b.persist(ctx, to, func(perhapsAgain bool) error {
		if perhapsAgain && !strings.HasPrefix(f.Caption, PerhapsAgain) {
			f.Caption = PerhapsAgain + f.Caption
		}
		sending, cancel := b.leaving(ctx)
		defer cancel()
		return b.there(ctx, to, func(to Place) error { return b.System.Upload(sending, to, id, f) })
	})
}

// leaving returns the context of an upload. It ends a while after the bridge: systemd kills a service that ends slowly.
func (b *Bridge) leaving(ctx context.Context) (context.Context, context.CancelFunc) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(b.Leave, cancel) })
	return sending, func() { stop(); cancel() }
}

// offer returns the commands by which a chat gets the files that an answer names.
func (b *Bridge) offer(key string, a Answer) []Piece {
	at, err := b.System.ParseKey(key)
	if err != nil || len(a.Files) == 0 || !b.reaches(b.isGroup(at.Chat)) {
		return nil
	}
	commands := make([]string, len(a.Files))
	for i, path := range a.Files {
		commands[i] = b.hide("/file " + path)
	}
	return []Piece{{Text: strings.Join(commands, "\n"), Code: true}}
}
