// Package link reaches hosts, by the user's own ssh.
package link

import (
	"cmp"
	"strings"

	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
)

// alone keeps a connection apart from what the user's configuration shares between connections: a shared connection can
// hang, and ends with another's; a forwarded port can be taken; another command may be set.
var alone = []string{
	"-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "RemoteCommand=none",
	"-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
}

// Command returns the arguments of an ssh that runs nbs-worker at a host, in the home folder there, with words as its
// arguments. It asks nothing, has no terminal, and ends when the host has not answered for 15 seconds.
func Command(h host.Host, words ...string) []string {
	return argv(h, []string{"-T", "-o", "BatchMode=yes", "-o", "LogLevel=INFO"}, program(h, words))
}

// terminalCommand is Command on the user's terminal; what ssh says goes to the file log. The program there knows its host's
// name and folder, for its hints.
func terminalCommand(h host.Host, log string, words ...string) []string {
	as := strings.TrimSpace(host.AsVariable + "=" + h.Name + " " + h.Folder)
	return argv(h, []string{"-t", "-o", "BatchMode=yes", "-o", "LogLevel=VERBOSE", "-E", log}, append([]string{as}, program(h, words)...))
}

// Plain is Command of another program than nbs-worker.
func Plain(h host.Host, words ...string) []string {
	return argv(h, []string{"-T", "-o", "BatchMode=yes", "-o", "LogLevel=INFO"}, words)
}

func program(h host.Host, words []string) []string {
	return append([]string{cmp.Or(h.Program, "nbs-worker")}, words...)
}

// path makes the far shell find what is installed in ~/.local/bin: shells add that folder for a login, which a command by
// ssh is not. All usual shells read it the same way.
const path = `env PATH="$HOME/.local/bin:$PATH"`

func argv(h host.Host, options, words []string) []string {
	line := []string{path}
	for _, word := range words {
		line = append(line, human.ShellWord(word))
	}
	args := append([]string{"ssh"}, options...)
	return append(append(args, alone...), "--", h.Destination, strings.Join(line, " "))
}
