package link

import (
	"context"
	"fmt"
	"os"
	"strings"

	"nbs-worker/internal/host"
	"nbs-worker/internal/platform/child"
)

// Visit is how a command on the user's terminal went at a host.
type Visit struct {
	Code    int  // the exit code of the command; of no meaning after an error
	Arrived bool // the user was logged in there: the terminal may be as the command left it
}

// OnTerminal runs nbs-worker at a host on the user's terminal. What ssh says is kept off the screen; tell says what is
// waited for. Errors: those of an unreachable host, also if the connection was cut; that of the context.
func OnTerminal(ctx context.Context, h host.Host, tell func(string), words ...string) (Visit, error) {
	log, err := os.CreateTemp("", "nbs-worker-ssh-*") // of mode 0600
	if err != nil {
		return Visit{}, fmt.Errorf("make a file for what ssh says: %w", err)
	}
	_ = log.Close()
	defer func() { _ = os.Remove(log.Name()) }()
	said := func() string {
		text, _ := os.ReadFile(log.Name()) // unread, it names no reason
		return string(text)
	}
	answered := Later(func(text string) {
		if !arrived(said()) { // the terminal is the command's then
			tell(text)
		}
	}, "waiting for "+h.Name)
	argv := terminalCommand(h, log.Name(), words...)
	code, err := child.OnTerminal(ctx, argv[0], argv[1:]...)
	answered()
	v := Visit{Code: code, Arrived: arrived(said())}
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err != nil:
		return v, noSSH(err)
	case code == sshFailed:
		reason := ReasonOf(said())
		if v.Arrived && !reason.Passes() {
			reason = Cut
		}
		return v, unreachableFor(reason, h, withoutLogin(said()))
	}
	return v, nil
}

// loggedIn begins the line by which ssh says, at LogLevel VERBOSE, that it has logged in.
const loggedIn = "Authenticated to "

func arrived(said string) bool {
	return strings.HasPrefix(said, loggedIn) || strings.Contains(said, "\n"+loggedIn)
}

// withoutLogin leaves out what ssh says of each connection, so that the last line is why it ended.
func withoutLogin(said string) string {
	var rest strings.Builder
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, loggedIn) && !strings.HasPrefix(line, "Transferred: ") && !strings.HasPrefix(line, "Bytes per second: ") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}
