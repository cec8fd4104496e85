package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
)

const v3 = "/_matrix/client/v3/"

// ofRoom returns the path of an endpoint of a room.
func ofRoom(room string, parts ...string) string {
	parts = slices.Concat([]string{room}, parts)
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return v3 + "rooms/" + strings.Join(parts, "/")
}

// call makes a request with a JSON object, unless body is nil, and reads the answer into result, unless that is nil.
// Its time limit is patience, unless the context has one. Errors: bridge.Failure; others if it may have been carried out.
func (s *System) call(ctx context.Context, method, path string, body, result any) error {
	if _, is := ctx.Deadline(); !is {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, patience)
		defer end()
	}
	var content io.Reader
	if body != nil {
		data, err := marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.Homeserver+path, content)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return s.read(request, result)
}

// read makes a request, and reads the answer into result, unless that is nil. Errors: as of call.
func (s *System) read(request *http.Request, result any) error {
	response, err := s.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if result == nil {
		return nil
	}
	const most = 64 << 20 // bytes: a first sync has the members of all rooms
	return json.NewDecoder(io.LimitReader(response.Body, most)).Decode(result)
}

// marshal is json.Marshal that leaves the signs of HTML as they are: an event counts its bytes.
func marshal(v any) ([]byte, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return data.Bytes(), err
}

// do makes a request, which succeeded if there is no error. Errors: as of call.
func (s *System) do(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+s.Token.text)
	response, err := s.client.Do(request)
	if network, is := errors.AsType[*net.OpError](err); is && network.Op == "dial" {
		return nil, &bridge.Failure{Err: err, NotDone: true}
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, refusal(response)
}

// refusal returns what the homeserver, or a gateway in front of it, means with a status. A page without an error code is
// a gateway's: what it says may be about itself.
func refusal(response *http.Response) error {
	var said struct {
		Code  string `json:"errcode"`
		Error string `json:"error"`
		Wait  int64  `json:"retry_after_ms"`
	}
	const most = 1 << 16 // bytes
	_ = json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&said)
	kind, status := fail.Failed, response.StatusCode
	f := &bridge.Failure{}
	switch {
	case status == http.StatusTooManyRequests:
		f.NotDone, f.After = true, time.Duration(said.Wait)*time.Millisecond
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			f.After = max(f.After, time.Duration(seconds)*time.Second)
		}
	case said.Code == "M_UNKNOWN_TOKEN" || said.Code == "M_MISSING_TOKEN" || said.Code == "M_USER_DEACTIVATED":
		kind, f.NotDone = fail.Held, true
	case status == http.StatusRequestEntityTooLarge:
		f.Final = true
	case said.Code == "M_FORBIDDEN" || said.Code == "M_NOT_FOUND":
		kind, f.Final = fail.NotFound, true
	case said.Code == "" || status >= 500: // not of the homeserver, or of its trouble
	default:
		f.Final = true
	}
	if said.Code == "" {
		said.Error = http.StatusText(status)
	}
	err := fail.Errorf(kind, "status %d: %s", status, strings.TrimSpace(said.Code+" "+said.Error))
	if kind == fail.Held {
		err = fail.Errorf(kind, "Matrix does not accept the access token: %s", said.Code).Hint("log the bot in again, and put its new access token where the old one is")
	}
	f.Err = err
	return f
}
