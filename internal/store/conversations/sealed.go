package conversations

import (
	"bytes"
	"encoding/json"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// A file or a line is one JSON object on one line. Its last field is the seal over the bytes before it.

const (
	sealKind   = "conversation"
	sealField  = `,"seal":"`
	sealDigits = 43
	sealEnd    = `"}`
)

// seal encodes a value and seals it for its place below .nbs. The text has no line break.
func (d *Drawer) seal(place string, value any) (text []byte, seal string, err error) {
	text, err = json.Marshal(value)
	if err != nil {
		return nil, "", err
	}
	seal, err = d.nbs.Keeper.Seal(sealKind, trust.Placed(text, d.nbs.Project, place))
	text = append(text[:len(text)-1], sealField+seal+sealEnd...)
	return text, seal, err
}

// unseal reads a value from a sealed text. Errors: [trust.ErrSeal]; [sealed.ErrUnsealed]; Unfit when the key
// cannot be used.
func (d *Drawer) unseal(place string, text []byte, value any) (seal string, err error) {
	content := len(text) - len(sealField) - sealDigits - len(sealEnd)
	if content < 1 || !bytes.HasPrefix(text[content:], []byte(sealField)) || !bytes.HasSuffix(text, []byte(sealEnd)) {
		return "", sealed.ErrUnsealed
	}
	seal = string(text[content+len(sealField) : len(text)-len(sealEnd)])
	sealed := append(bytes.Clone(text[:content]), '}')
	if err := d.nbs.Keeper.Check(sealKind, trust.Placed(sealed, d.nbs.Project, place), seal); err != nil {
		return "", err
	}
	return seal, json.Unmarshal(sealed, value)
}

// write replaces a sealed file durably.
func (d *Drawer) write(sub, name string, value any) error {
	text, _, err := d.seal(sub+"/"+name, value)
	if err != nil {
		return err
	}
	if len(text) >= fileLimit {
		return fail.Errorf(fail.BadInput, "%s would have %d bytes, the limit is %d", d.nbs.Label(sub+"/"+name), len(text)+1, fileLimit)
	}
	return d.nbs.Write(sub, name, append(text, '\n'))
}

// read reads a sealed file. remedy is for a file that was changed or damaged. Errors: [fs.ErrNotExist]; Held when it
// is not sealed; Failed when it is damaged; Unfit when the key cannot be used; Failed when the key cannot be read
// now.
func (d *Drawer) read(sub, name string, value any, remedy string) error {
	text, err := d.nbs.Read(sub, name, fileLimit)
	if err != nil {
		return err
	}
	_, err = d.unseal(sub+"/"+name, bytes.TrimSuffix(text, []byte{'\n'}), value)
	if err == nil {
		return nil
	}
	return d.nbs.Refused(sub+"/"+name, "", err, remedy)
}
