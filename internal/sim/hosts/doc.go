// Package hosts simulates machines that are reached by ssh. Each has its own processes, name, boot id, home, project and
// tmux server, and an sshd of Debian that listens on an address of its own. They share this machine's files and its
// isolated loopback interface. A [Network] stands between a client and each host: it can be cut, slowed and silenced.
//
// A host ends as a machine does that loses its power: its first process is killed, and the kernel kills all others with
// it. [Host.Boot] starts it again with another boot id. It is imported by tests only.
package hosts
