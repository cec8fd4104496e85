package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"

	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
)

// Await has the server of the project run a turn that is accepted, and returns its result. there is false when
// no server could be asked: then the caller does it itself.
func Await(ctx context.Context, s *store.Store, key conversations.Key, id string, heard func(text string)) (result conversations.Result, there bool, err error) {
	conn, err := dial(ctx, s)
	if err != nil {
		return result, false, nil // there is no server, or none that can be asked
	}
	response, err := post(ctx, conn, "turn", wanted{Key: key, ID: id, Stream: heard != nil})
	if err != nil {
		return result, ctx.Err() != nil, ctx.Err()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return result, false, nil
	}
	lines := json.NewDecoder(response.Body)
	for {
		var t told
		switch err := lines.Decode(&t); {
		case ctx.Err() != nil:
			return result, true, ctx.Err()
		case err != nil: // it has ended, or was killed: the turn is accepted, and the caller goes on
			return result, false, nil
		case t.Result != nil:
			return *t.Result, true, nil
		case t.Error != nil:
			return result, true, t.Error.error()
		case heard != nil:
			heard(t.Text)
		}
	}
}

// Tell has the server of the project write to a chat. Errors: Unfit when there is none, or no bridge; those of the
// bridge.
func Tell(ctx context.Context, s *store.Store, to, text string) error {
	conn, err := dial(ctx, s)
	if err != nil {
		return errNoBridge()
	}
	response, err := post(ctx, conn, "tell", message{to, text})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var t told
	err = json.NewDecoder(response.Body).Decode(&t)
	if err == nil && t.Error != nil {
		err = t.Error.error()
	}
	return err
}

// post sends a request on a connection, which it closes with the answer.
func post(ctx context.Context, conn net.Conn, route string, asked any) (*http.Response, error) {
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://nbs-worker/"+route, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}
