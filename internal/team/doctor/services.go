package doctor

import (
	"bytes"
	"context"
	"io"
	"strings"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/companion"
)

// services looks for nbs-worker-services, which an installation may lack, or an upgrade may have left old.
func (d *examination) services(ctx context.Context) findings {
	const why, fix = "nbs-worker serve and nbs-worker memory are carried out by it, and a briefing asks it what is remembered", "install both: make install"
	var said bytes.Buffer
	code, err := companion.Run(ctx, []string{"version"}, strings.NewReader(""), &said, io.Discard)
	switch version := strings.TrimSpace(said.String()); {
	case err != nil:
		return found(Warning, oneLine(err), why, fix)
	case code != 0 || version != d.Version:
		return found(Warning, "the program nbs-worker-services beside this one says that it is "+human.Quote(version)+", and this is "+human.Quote(d.Version), why, fix)
	}
	return nil
}
