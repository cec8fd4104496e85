package agents

import (
	"os"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

// hostsOf returns the user's hosts for the dashboard, which says at once that one is lost, and itself tries again.
func hostsOf(f *ui.Factory, o *dashOptions, words dash.Words) (all []dash.Host, err error) {
	if err := f.CheckPerson("use other machines"); err != nil {
		return nil, err
	}
	f.Close()
	f.Opened = nil
	known, err := host.Load(os.Environ())
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, fail.Errorf(fail.NotFound, "you have no hosts").Hint("to add one: nbs-worker host add NAME DESTINATION")
	}
	home, err := trust.HomeOf(os.Environ())
	if err != nil {
		return nil, err
	}
	limits := link.Limits{Contact: time.Second, Parting: time.Second}
	for _, h := range known {
		l, err := link.Open(home, h, limits)
		if err != nil {
			return nil, err
		}
		all = append(all, dash.Host{Name: h.Name, Far: dash.ByLink{Link: l}, Views: views.Of(home, h.Name, h.Place()), AllProjects: o.allProjects, Words: words})
	}
	return all, nil
}
