// Package hosts has the end-to-end tests of teams at hosts: machines that are simulated in namespaces and reached by a
// real ssh. They are run by make test-hosts.
package hosts
