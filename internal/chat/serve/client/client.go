// Package client sends requests to a project's server, nbs-worker serve. It speaks minimal HTTP/1.0 over a connection
// for each request. A client of net/http would take as many lines, and a pool and goroutines for one request.
package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
)

// Await asks the project's server to run an accepted turn, and returns its result. there is false if no server
// answered: then the caller runs the turn itself.
func Await(ctx context.Context, s *store.Store, key conversations.Key, id string, heard func(text string)) (result conversations.Result, there bool, err error) {
	conn, err := dial(ctx, s)
	if err != nil {
		return result, false, nil // no server, or it cannot be reached
	}
	defer conn.Close()
	hung := time.AfterFunc(greetLimit, func() { _ = conn.Close() })
	defer hung.Stop()
	answer, err := post(ctx, conn, "turn", Turn{Key: key, ID: id, Stream: heard != nil})
	if err != nil {
		return result, ctx.Err() != nil, ctx.Err()
	}
	hung.Stop()
	lines := json.NewDecoder(answer)
	for {
		var t Told
		switch err := lines.Decode(&t); {
		case ctx.Err() != nil:
			return result, true, ctx.Err()
		case err != nil: // the server ended or was killed: the turn is accepted, and the caller continues
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

// Runs reports whether the project has a server.
func Runs(ctx context.Context, s *store.Store) bool {
	conn, err := dial(ctx, s)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// greetLimit is how long a server may take to report that it runs a turn. It reports that before it begins, so a slower
// server is suspended.
const greetLimit = 15 * time.Second

// Tell asks the project's server to write to a chat. Errors: Unfit without a server or bridge; those of the bridge;
// Interrupted, TimedOut after the context's deadline, and Failed when the server has gone. After these three it is
// unknown whether the text was written.
func Tell(ctx context.Context, s *store.Store, to, text string) error {
	return done(ctx, s, "tell", Message{to, text})
}

// Run asks the project's server to run a schedule at a time that is not one of its own, and returns when its chat has the
// answer. The server goes on if the context ends. Errors: those of the run; Unfit without a server; as of Tell.
func Run(ctx context.Context, s *store.Store, name string, at time.Time) error {
	return done(ctx, s, "run", Scheduled{name, at})
}

// done sends a request, and returns whether what it asks for was done.
func done(ctx context.Context, s *store.Store, route string, asked any) error {
	conn, err := dial(ctx, s)
	if err != nil {
		return ErrNoBridge()
	}
	defer conn.Close()
	var t Told
	answer, err := post(ctx, conn, route, asked)
	if err == nil {
		err = json.NewDecoder(answer).Decode(&t)
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail.Errorf(fail.TimedOut, "the server did not answer in time; it is unknown whether the text was written")
	case err != nil && ctx.Err() != nil:
		return fail.Errorf(fail.Interrupted, "interrupted; it is unknown whether the text was written")
	case err != nil:
		return fail.Errorf(fail.Failed, "the server did not say whether it was written: %w", err)
	case t.Error != nil:
		return t.Error.error()
	}
	return nil
}

// post sends a request, and returns the body of the answer, which ends with the connection. A refusal is an error too.
func post(ctx context.Context, conn net.Conn, route string, asked any) (io.Reader, error) {
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST /%s HTTP/1.0\r\nHost: nbs-worker\r\nContent-Length: %d\r\n\r\n%s", route, len(body), body); err != nil {
		return nil, err
	}
	answer := bufio.NewReader(conn)
	head := textproto.NewReader(answer)
	status, err := head.ReadLine()
	if err != nil {
		return nil, err
	}
	if _, code, _ := strings.Cut(status, " "); !strings.HasPrefix(code, "200 ") {
		return nil, errors.New("the server answers " + code)
	}
	_, err = head.ReadMIMEHeader()
	return answer, err
}
