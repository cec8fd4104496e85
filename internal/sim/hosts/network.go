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
	t    testing.TB

	mu     sync.Mutex
	change sync.Cond // of what follows
	links  map[*link]bool
	delay  time.Duration // of what is sent in one direction
	silent bool
	door   net.Listener // nil while the network is down
	cuts   []int        // each so many bytes after the one before; the first, from now
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
	n := &Network{Address: address, host: host, links: map[*link]bool{}, t: t}
	n.change.L = &n.mu
	t.Cleanup(func() {
		n.Down()
		n.tell(func() { n.ended = true })
	})
	n.Up()
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

// CutAfterBytes cuts as soon as that many bytes more have passed, in both directions together; and again after as many
// as the next count says. It replaces cuts that were asked for and did not come, and returns how many those were.
func (n *Network) CutAfterBytes(counts ...int) (left int) {
	n.tell(func() { left, n.cuts = len(n.cuts), counts })
	return left
}

// Passed is how many bytes have passed since the network was made.
func (n *Network) Passed() (bytes int) {
	n.tell(func() { bytes = n.passed })
	return bytes
}

// Delay makes everything that is sent arrive that much later, in each direction.
func (n *Network) Delay(by time.Duration) { n.tell(func() { n.delay = by }) }

// Down cuts and refuses new connections, as the machine of a host does without an sshd.
func (n *Network) Down() {
	n.tell(func() {
		if n.door != nil {
			_ = n.door.Close()
			n.door = nil
		}
	})
	n.Cut()
}

// Silence loses nothing and passes nothing on, not even the end of a connection.
func (n *Network) Silence() { n.tell(func() { n.silent = true }) }

// Up ends [Network.Down] and [Network.Silence].
func (n *Network) Up() {
	n.t.Helper()
	n.tell(func() {
		n.silent = false
		if n.door != nil {
			return
		}
		door, err := net.Listen("tcp", n.Address)
		rig.Must(n.t, err)
		n.door = door
		go func() {
			for {
				c, err := door.Accept()
				if err != nil {
					return // closed
				}
				go n.serve(c)
			}
		}()
	})
}

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
		refused = n.door == nil
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
	switch {
	case len(n.cuts) == 0 || len(bytes) == 0:
	case n.cuts[0] <= len(bytes):
		bytes, cut = bytes[:n.cuts[0]], true
		n.cuts = n.cuts[1:]
	default:
		n.cuts = append([]int{n.cuts[0] - len(bytes)}, n.cuts[1:]...)
	}
	n.passed += len(bytes)
	return bytes, cut
}
