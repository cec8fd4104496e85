package telegram

import (
	"bytes"
	"context"
	"io"

	"nbs-worker/internal/chat/telegram/format"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// maxFile is the size of the largest file that a bot may send, in bytes.
const maxFile = 50_000_000

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
	case size == 0:
		return "", fail.Errorf(fail.BadInput, "%s is empty, and Telegram takes no empty file", human.Quote(path))
	case size > maxFile:
		return "", fail.Errorf(fail.BadInput, "%s is larger than 50 MB, and Telegram takes no larger file", human.Quote(path))
	}
	const looked = 1 << 20
	start, err := io.ReadAll(io.LimitReader(f, looked))
	if err != nil {
		return "", err
	}
	if bytes.Contains(start, []byte(b.Token.text)) {
		return "", fail.Errorf(fail.BadInput, "%s has the bot's token", human.Quote(path))
	}
	return "", b.write(ctx, c, func() error {
		return b.sendFile(ctx, c.place, file{name: info.Name(), content: f})
	})
}

// offer returns the commands by which a chat gets the files that an answer names.
func (b *Bridge) offer(key string, a Answer) format.Text {
	at, err := ParseKey(key)
	if err != nil || at.isGroup() && !b.InGroups {
		return format.Text{}
	}
	var commands []string
	for _, path := range a.Files {
		commands = append(commands, b.Token.hide("/file "+path))
	}
	return format.Code(commands...)
}
