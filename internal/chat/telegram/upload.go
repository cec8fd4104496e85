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

	"nbs-worker/internal/chat/bridge"
)

// uploadPatience is the time limit of a request with a file. A file that takes longer is not sent again: the messages
// behind it wait.
const uploadPatience = 10 * time.Minute

var errSlow = errors.New("it took too long to send")

// Upload implements [bridge.System]. It sends a file as a document.
func (s *System) Upload(ctx context.Context, to bridge.Place, _ string, f bridge.Upload) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.Upload, errSlow)
	defer cancel()
	return unsent(s.upload(ctx, "sendDocument", with(to, map[string]any{"caption": f.Caption}), "document", f))
}

// upload calls a method of the Bot API with a file, which it reads as it sends it.
func (c *client) upload(ctx context.Context, method string, params map[string]any, field string, f bridge.Upload) error {
	if _, err := f.Content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for name, value := range params {
		if err := form.WriteField(name, fmt.Sprint(value)); err != nil {
			return err
		}
	}
	if _, err := form.CreateFormFile(field, f.Name); err != nil {
		return err
	}
	end := strings.NewReader("\r\n--" + form.Boundary() + "--\r\n")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.method(method), io.MultiReader(&head, f.Content, end))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	if err = c.do(request, nil); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}
