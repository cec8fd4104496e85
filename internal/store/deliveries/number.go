package deliveries

import (
	"encoding/json"
	"strconv"
)

// Number names a message or a chat, as its chat system does. A decimal number is kept as one.
type Number string

// MarshalJSON keeps the form of earlier notes, and with it their seals.
func (n Number) MarshalJSON() ([]byte, error) {
	if number, err := strconv.ParseInt(string(n), 10, 64); err == nil && strconv.FormatInt(number, 10) == string(n) {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

// UnmarshalJSON reads a number or a string.
func (n *Number) UnmarshalJSON(data []byte) error {
	var number int64
	if json.Unmarshal(data, &number) == nil {
		*n = Number(strconv.FormatInt(number, 10))
		return nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	*n = Number(text)
	return err
}
