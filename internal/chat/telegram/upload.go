package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"
)

// uploadPatience is the time limit of a request with a file. A file that takes longer is not sent again: the messages
// behind it wait.
const uploadPatience = 10 * time.Minute

var errSlow = errors.New("it took too long to send")

// file is a file for a chat.
type file struct {
	name, caption string
	content       io.ReadSeeker
}

// sendFile sends a file as a document. Errors: those of send, and of its content.
func (b *Bridge) sendFile(ctx context.Context, to Place, f file) error {
	return b.persist(ctx, to, func(perhapsAgain bool) error {
		if perhapsAgain && !strings.HasPrefix(f.caption, PerhapsAgain) {
			f.caption = PerhapsAgain + f.caption
		}
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), b.Upload, errSlow)
		defer cancel()
		return b.where(ctx, to.with(map[string]any{"caption": f.caption}), func(params map[string]any) error {
			return b.upload(ctx, "sendDocument", params, "document", f)
		})
	})
}

// upload calls a method of the Bot API with a file, which it reads as it sends it.
func (b *Bridge) upload(ctx context.Context, method string, params map[string]any, field string, f file) error {
	if _, err := f.content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for name, value := range params {
		if err := form.WriteField(name, fmt.Sprint(value)); err != nil {
			return err
		}
	}
	if _, err := form.CreateFormFile(field, f.name); err != nil {
		return err
	}
	end := strings.NewReader("\r\n--" + form.Boundary() + "--\r\n")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.method(method), io.MultiReader(&head, f.content, end))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	if err = b.do(request, nil); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}
