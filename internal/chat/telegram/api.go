package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// callOnce calls a method of the Bot API, and reads its result into result, unless that is nil. Errors: refusedError.
func (b *Bridge) callOnce(ctx context.Context, method string, params map[string]any, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.method(method), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return b.do(request, result)
}

// method returns the URL of a method of the Bot API.
func (b *Bridge) method(name string) string { return b.URL + "/bot" + b.Token.text + "/" + name }

// do makes a request to the Bot API, and reads its result into result, unless that is nil. Errors: refusedError.
func (b *Bridge) do(request *http.Request, result any) error {
	response, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	const longest = 16 << 20 // bytes: a hundred messages with all their quotes
	answer := struct {
		OK     bool `json:"ok"`
		Result any  `json:"result"`
		refusedError
	}{Result: result}
	if err := json.NewDecoder(io.LimitReader(response.Body, longest)).Decode(&answer); err != nil {
		if response.StatusCode == http.StatusRequestEntityTooLarge { // the page of a gateway. What it says of others may be about itself
			return refusedError{Code: response.StatusCode, Description: http.StatusText(response.StatusCode)}
		}
		return fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	if !answer.OK {
		return answer.refusedError
	}
	return nil
}

// refusedError is Telegram's answer that it did not do what was asked.
type refusedError struct {
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"` // seconds
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (r refusedError) Error() string { return fmt.Sprintf("status %d: %s", r.Code, r.Description) }

// refusedIn returns Telegram's refusal in an error, or the zero value.
func refusedIn(err error) refusedError {
	refused, _ := errors.AsType[refusedError](err)
	return refused
}
