package agent

import (
	"crypto/sha256"
	"encoding/hex"
)

// Frame marks text from another author as data for a model. The mark is a hash of the text, so that no text can
// contain its own last line. The name is a word of this program, such as transcript or notes:
//
//	<transcript 6f1e...>
//	...
//	</transcript 6f1e...>
func Frame(name, text string) string {
	const enough = 8 // bytes
	sum := sha256.Sum256([]byte(text))
	mark := name + " " + hex.EncodeToString(sum[:enough])
	return "<" + mark + ">\n" + text + "\n</" + mark + ">\n"
}
