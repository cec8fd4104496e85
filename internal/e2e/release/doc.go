// Package release has the tests of a release: of the files that make release makes from the last commit, of the install
// script over a running team, and of the packages in a fresh Debian.
package release
