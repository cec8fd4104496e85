package journal

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/store/private"
)

const (
	complaintEvery = time.Minute
	complaintLimit = 300 // bytes of a detail
)

// Complain journals the failure of something that happens many times a second: once a minute
// for each agent, and not at all while another process complains about that agent.
func (j *Journal) Complain(ctx context.Context, event Event) error {
	unlock, err := j.nbs.TryLock(event.Handle.Key() + ".complaint")
	if unlock == nil {
		return err
	}
	defer unlock()
	name := private.Locks + "/" + event.Handle.Key() + ".complaint"
	info, err := j.nbs.Stat(name)
	if err != nil {
		return err
	}
	if age := event.At.Sub(info.ModTime()); info.Size() > 0 && age.Abs() < complaintEvery {
		return nil
	}
	f, err := j.nbs.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("!\n")
	event.Detail = strings.ToValidUTF8(event.Detail[:min(len(event.Detail), complaintLimit)], "")
	return errors.Join(err, f.Close(), j.Append(ctx, event))
}
