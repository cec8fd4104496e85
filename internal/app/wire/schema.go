package wire

import _ "embed" // for go:embed

// Schema is the JSON Schema of everything that --json prints.
//
//go:generate go run ./schemagen schema.json
//go:embed schema.json
var Schema []byte
