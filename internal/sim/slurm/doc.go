// Package slurm simulates a cluster: a controller of Slurm from Debian's packages, and nodes with a slurmd each. A node
// is a machine as package hosts simulates them, with its own processes, name and boot id. All share this machine's files,
// as the nodes of a cluster share a file system, and its isolated loopback interface. It is imported by tests only.
package slurm
