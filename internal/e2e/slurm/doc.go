// Package slurm has the tests of agents that run as jobs of Slurm, on the nodes of a simulated cluster.
package slurm
