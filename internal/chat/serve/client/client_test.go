package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
)

// It fails when anything is left: a goroutine, a descriptor.
func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// serving is a project whose server gives an answer to each request, and then hangs up; "" is a server that is silent.
func serving(t *testing.T, answer string) (s *store.Store, asked chan struct{}) {
	t.Helper()
	s, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	s.RunIn(filepath.Join(rig.ShortDir(t), "run"))
	path := SocketPath(s)
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	l, err := net.Listen("unix", path)
	rig.Must(t, err)
	asked = make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			asked <- struct{}{}
			if answer == "" {
				_, _ = io.Copy(io.Discard, conn)
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		_ = s.Close()
	})
	return s, asked
}

// Who is interrupted while the server is silent is told so, and not of a connection.
func TestASilentServer(t *testing.T) {
	t.Parallel()
	s, asked := serving(t, "")
	for range 2 {
		ctx, interrupt := context.WithCancel(t.Context())
		go func() { <-asked; interrupt() }()
		err := Tell(ctx, s, "telegram:1", "hello")
		rig.Check(t, fail.KindOf(err) == fail.Interrupted && strings.HasPrefix(err.Error(), "interrupted"), "%v", err)
		ctx, interrupt = context.WithCancel(t.Context())
		go func() { <-asked; interrupt() }()
		_, there, err := Await(ctx, s, "review", "1", nil)
		rig.Check(t, there && errors.Is(err, context.Canceled), "there: %v, %v", there, err)
	}
}

// An answer that is none, or is cut short, is no claim that anything was done.
func TestAServerThatAnswersNonsense(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n{\"te", "HTTP/1.0 500 Internal Server Error\r\n\r\n{}",
		"nonsense\r\n\r\n{}", "HTTP/1.0 200 OK\r\nnonsense\r\n\r\n{}",
	} {
		s, asked := serving(t, answer)
		err := Tell(t.Context(), s, "telegram:1", "hello")
		<-asked
		rig.Check(t, fail.KindOf(err) == fail.Failed && strings.HasPrefix(err.Error(), "the server did not say whether it was written: "), "%q: %v", answer, err)
		_, there, err := Await(t.Context(), s, "review", "1", nil)
		<-asked
		rig.Check(t, !there && err == nil, "%q: there: %v, %v", answer, there, err)
	}
}
