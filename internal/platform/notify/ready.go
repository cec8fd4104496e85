package notify

import (
	"net"
	"os"
)

// Ready reports to the service manager that the service is ready. It does nothing if NOTIFY_SOCKET is not set. It
// unsets the variable: a child that inherited it could speak for the service.
func Ready() error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	if err := os.Unsetenv("NOTIFY_SOCKET"); err != nil {
		return err
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("READY=1"))
	return err
}
