package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// Limits of what is fetched.
const (
	shownLimit = 16 << 20 // bytes of all pictures in one message to Claude; further ones it gets as files
	heardLimit = 300      // characters of what was heard, for the chat
)

// fetch gets and keeps the files of a message, and turns a voice message into text. It returns false if the message is
// not passed on: then the chat was told why.
func (b *Bridge) fetch(ctx context.Context, c *chat, m *incoming) bool {
	shown := 0
	for _, part := range m.updates {
		file := part.File
		if file == nil {
			continue
		}
		if file.Voice && b.Transcribe == nil {
			return b.refuse(ctx, c, m, "I cannot listen to "+file.Kind+"; please write it. (For the owner: "+b.traits.Command+" --transcribe-cmd PROGRAM)")
		}
		kept, path, err := b.keep(ctx, c, m, file)
		if err == nil && file.Voice {
			err = b.transcribe(ctx, m, path)
		}
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			b.log("take a file of %s: %v", c.place, err)
			return b.refuse(ctx, c, m, "I could not take "+file.Kind+": "+b.words(err)+".")
		case file.Voice:
			continue
		}
		if shown += kept.Size; shown > shownLimit {
			kept.Shown = false
		}
		m.Files = append(m.Files, kept)
	}
	if m.Text == "" && len(m.Files) == 0 {
		return b.refuse(ctx, c, m, "I cannot read "+cmp.Or(m.update.Unreadable, "that")+".")
	}
	m.Text = cmp.Or(m.Text, "(The message has no words, only "+human.Count(len(m.Files), "file")+".)")
	return true
}

// refuse tells the chat why a message is not passed on.
func (b *Bridge) refuse(ctx context.Context, c *chat, m *incoming, why string) bool {
	if b.say(ctx, c, why+" Your message was not passed on.") == nil {
		b.finish(ctx, m)
	}
	return false
}

// keep fetches a file and keeps it. It tries again while the system cannot be reached, or the disk is full: that is
// told. Errors: the context's, and those that stay.
func (b *Bridge) keep(ctx context.Context, c *chat, m *incoming, file *Attachment) (kept File, path string, err error) {
	content, err := b.fetchFile(ctx, c, file)
	if err != nil {
		return File{}, "", err
	}
	n, wait := len(m.Files), Backoff(b.Pause)
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
)

// fetchFile fetches a file. It tries again while the system cannot be reached, and for a while when it does not give the
// file. Errors: the context's, and those that stay.
func (b *Bridge) fetchFile(ctx context.Context, c *chat, file *Attachment) ([]byte, error) {
	began, wait := time.Now(), Backoff(b.Pause)
	for tries := 0; ; {
		content, err := b.System.Fetch(ctx, *file)
		failure := FailureOf(err)
		switch {
		case err == nil, ctx.Err() != nil, failure.Final:
			return content, err
		case failure.Withheld:
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

// transcribe adds what was said in a voice message to its text.
func (b *Bridge) transcribe(ctx context.Context, m *incoming, path string) error {
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
