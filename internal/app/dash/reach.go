package dash

import (
	"time"

	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

// Reach returns the ways to hosts. A way says at once that its host is lost: the source itself tries again.
func Reach(home trust.Home, known host.Hosts, allProjects bool, words Words) (all []Host, err error) {
	limits := link.Limits{Contact: time.Second, Parting: time.Second}
	for _, h := range known {
		l, err := link.Open(home, h, limits)
		if err != nil {
			for _, one := range all {
				one.Far.Close()
			}
			return nil, err
		}
		all = append(all, Host{Name: h.Name, Far: ByLink{Link: l}, Views: views.Of(home, h.Name, h.Place()), AllProjects: allProjects, Words: words})
	}
	return all, nil
}
