// Package portable has the system calls that operating systems name or order differently: of files, terminals, sockets
// and limits. What is asked about processes is in package machine.
//
// A call that an operating system does not have fails with [errors.ErrUnsupported], and its caller takes another way.
package portable
