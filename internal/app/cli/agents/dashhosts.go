package agents

import (
	"os"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/store/trust"
)

// hostsOf returns the user's hosts for the dashboard.
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
	return dash.Reach(home, known, o.allProjects, words)
}
