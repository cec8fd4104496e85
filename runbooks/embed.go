// Package runbooks holds the pages of the program: *.md, which internal/recovery/runbook reads.
package runbooks

import "embed"

// Pages are the pages, as NAME.md.
//
//go:embed *.md
var Pages embed.FS
