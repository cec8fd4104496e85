package hosts

import (
	"net"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// Network is what lies between the clients and one host: it passes on what they send to each other, until it is told
// to do worse.
type Network struct {
	Address string // at which clients reach the host

	host string

	mu     sync.Mutex
	change sync.Cond // of what follows
	links  map[*link]bool
	delay  time.Duration // of what is sent in one direction
	silent bool
	down   bool
	cutAt  int // so many bytes from now; negative: never
	passed int
	ended  bool
}

// link is one connection of a client with the host.
type link struct{ client, host net.Conn }

// forget ends a connection without the words of a proper end, as a router does that has forgotten it.
func (l *link) forget() {
	for _, c := range []net.Conn{l.client, l.host} {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

func newNetwork(t testing.TB, address, host string) *Network {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	rig.Must(t, err)
	n := &Network{Address: address, host: host, links: map[*link]bool{}, cutAt: -1}
	n.change.L = &n.mu
	t.Cleanup(func() {
		_ = listener.Close()
		n.tell(func() { n.ended = true })
		n.Cut()
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			go n.serve(c)
		}
	}()
	return n
}

// tell changes the network, for connections that exist and for later ones.
func (n *Network) tell(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	n.change.Broadcast()
}

// Cut ends all connections. New ones can be made.
func (n *Network) Cut() {
	n.tell(func() {
		for l := range n.links {
			l.forget()
		}
	})
}

// CutAfterBytes cuts once, as soon as that many bytes more have passed, in both directions together.
func (n *Network) CutAfterBytes(count int) { n.tell(func() { n.cutAt = count }) }

// CutIsDue reports whether a cut that was asked for has not happened yet.
func (n *Network) CutIsDue() (due bool) {
	n.tell(func() { due = n.cutAt >= 0 })
	return due
}

// Passed is how many bytes have passed since the network was made.
func (n *Network) Passed() (bytes int) {
	n.tell(func() { bytes = n.passed })
	return bytes
}

// Delay makes everything that is sent arrive that much later, in each direction.
func (n *Network) Delay(by time.Duration) { n.tell(func() { n.delay = by }) }

// Down cuts and refuses new connections, as a host does that is there without its sshd.
func (n *Network) Down() {
	n.tell(func() { n.down = true })
	n.Cut()
}

// Silence loses nothing and passes nothing on, not even the end of a connection.
func (n *Network) Silence() { n.tell(func() { n.silent = true }) }

// Up ends [Network.Down] and [Network.Silence].
func (n *Network) Up() { n.tell(func() { n.down, n.silent = false, false }) }

func (n *Network) serve(client net.Conn) {
	host, err := net.Dial("tcp", n.host)
	if err != nil {
		_ = client.Close() // the host is down
		return
	}
	l := &link{client, host}
	refused := false
	n.tell(func() {
		n.links[l] = true
		refused = n.down || n.ended
	})
	if refused {
		l.forget()
	}
	var both sync.WaitGroup
	both.Go(func() { n.pass(client, host) })
	both.Go(func() { n.pass(host, client) })
	both.Wait()
	n.tell(func() { delete(n.links, l) })
	_, _ = client.Close(), host.Close()
}

// parcel is some bytes on their way.
type parcel struct {
	bytes   []byte
	arrives time.Time
}

// pass carries what one side sends, and its end, to the other.
func (n *Network) pass(from, to net.Conn) {
	way := make(chan parcel, 1024)
	go func() {
		defer close(way)
		for {
			bytes := make([]byte, 16<<10)
			count, err := from.Read(bytes)
			var delay time.Duration
			n.tell(func() { delay = n.delay })
			if err != nil {
				return
			}
			way <- parcel{bytes[:count], time.Now().Add(delay)}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.arrives))
		kept, cut := n.toll(p.bytes)
		_, _ = to.Write(kept) // an error shows at the reader, too
		if cut {
			n.Cut()
		}
	}
	n.toll(nil) // an end is not passed on in silence either
	_ = to.(*net.TCPConn).CloseWrite()
}

// toll waits while the network is silent, counts the bytes, and returns those that pass before a cut.
func (n *Network) toll(bytes []byte) (kept []byte, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.silent && !n.ended {
		n.change.Wait()
	}
	if n.cutAt >= 0 && n.cutAt <= len(bytes) && len(bytes) > 0 {
		bytes, cut = bytes[:n.cutAt], true
		n.cutAt = -1
	} else if n.cutAt >= 0 {
		n.cutAt -= len(bytes)
	}
	n.passed += len(bytes)
	return bytes, cut
}
