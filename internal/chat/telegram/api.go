package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// patience is the time limit of a request, in addition to Telegram's wait for messages.
const patience = 30 * time.Second

// client calls the Bot API for a bot.
type client struct {
	token Token
	url   string
	http  *http.Client // its own connections, closed at the end
}

// newClient returns a client. url is that of the Bot API; "": Telegram's own. Errors: BadInput.
func newClient(token Token, address string) (client, error) {
	if token.text == "" {
		return client{}, fail.Errorf(fail.BadInput, "set up Telegram: there is no token")
	}
	if address == "" {
		address = "https://api.telegram.org"
	}
	address = strings.TrimSuffix(address, "/")
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return client{}, fail.Errorf(fail.BadInput, "set up Telegram: %s is no URL", human.Quote(address))
	}
	return client{token, address, &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}, nil
}

// call calls a method of the Bot API, and reads its result into result, unless that is nil. Errors: refusedError.
func (c *client) call(ctx context.Context, method string, params map[string]any, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.method(method), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return c.do(request, result)
}

// method returns the URL of a method of the Bot API.
func (c *client) method(name string) string { return c.url + "/bot" + c.token.text + "/" + name }

// do makes a request to the Bot API, and reads its result into result, unless that is nil. Errors: refusedError.
func (c *client) do(request *http.Request, result any) error {
	response, err := c.http.Do(request) //nolint:gosec // to the address that the owner has set
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

// isOfToken reports whether Telegram refused the token.
func isOfToken(err error) bool {
	code := refusedIn(err).Code
	return code == http.StatusUnauthorized || code == http.StatusNotFound
}

func errToken() error {
	return fail.Errorf(fail.Held, "Telegram does not accept the token").
		Hint("@BotFather shows a bot's token, and issues a new one")
}
