package serve

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"

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
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
	body, err := json.Marshal(wanted{Key: key, ID: id, Stream: heard != nil})
	if err != nil {
		return result, true, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://nbs-worker/turn", strings.NewReader(string(body)))
	if err != nil {
		return result, true, err
	}
	response, err := client.Do(request)
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
