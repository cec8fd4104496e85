// Package isolate puts a program into a network namespace that has the loopback interface and nothing else.
//
// The tests run the real Claude Code. What keeps it from reaching anything outside this machine is not a setting of
// its own but the kernel: inside the namespace there is no interface over which a packet could leave. A proxy
// variable can be forgotten; a missing interface cannot.
//
// Invariants:
//   - Only Isolated decides. The environment marker stops a recursion and is never taken as proof.
//   - What cannot be isolated fails with a reason; nothing runs un-isolated instead.
//   - Process ids are those of the outside (no pid namespace), so that /proc shows the same pids inside.
//   - Nothing inside is a descendant of the calling process: see outside.go.
//   - When the first process inside ends, everything that is still in its namespace is killed: by the relay, or by the
//     outside if the relay was killed.
//
// As root the namespace needs only CAP_SYS_ADMIN. Other users get a user namespace around it in which they keep
// their own ids. The package must not import anything of the product.
package isolate

import (
	"errors"
	"fmt"
	"net"
)

// Isolated returns nil when this process can reach loopback and nothing else: the only interface is lo, and it is up.
func Isolated() error {
	ifaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list network interfaces: %w", err)
	}
	return judge(ifaces)
}

// judge decides by a list of interfaces.
func judge(ifaces []net.Interface) error {
	loopback := false
	for _, i := range ifaces {
		if i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("not isolated: network interface %s exists besides loopback", i.Name)
		}
		if i.Flags&net.FlagUp == 0 {
			return fmt.Errorf("not isolated: loopback interface %s is down", i.Name)
		}
		loopback = true
	}
	if !loopback {
		return errors.New("not isolated: there is no loopback interface")
	}
	return nil
}
