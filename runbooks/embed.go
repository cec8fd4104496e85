// Package runbooks holds the pages of the program: *.md, which internal/team/recovery/runbook reads.
package runbooks

import "embed"

// Pages holds the pages as files NAME.md.
//
//go:embed *.md
var Pages embed.FS
