// Package recovery brings agents back that are not as they should be, in the way that takes least
// from them.
//
// [Assess] looks at agents and judges them, by package triage. It imports neither the command line
// nor what is printed.
package recovery
