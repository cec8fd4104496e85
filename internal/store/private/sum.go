package private

import (
	"crypto/sha256"
	"encoding/hex"
)

// Sum is a SHA-256 in hexadecimal.
type Sum string

// SumOf returns the sum of some bytes.
func SumOf(data []byte) Sum {
	digest := sha256.Sum256(data)
	return Sum(hex.EncodeToString(digest[:]))
}

// Valid reports whether s has the form of a sum: a sum that was read may be any text.
func (s Sum) Valid() bool {
	_, err := hex.DecodeString(string(s))
	return err == nil && len(s) == hex.EncodedLen(sha256.Size)
}
