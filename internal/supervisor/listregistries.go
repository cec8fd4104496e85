package supervisor

import (
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// registries keeps Claude's registries open for a list that looks up many agents: mostly
// all are in one.
type registries struct {
	supervisor *Supervisor
	mu         sync.Mutex
	opened     map[registryKey]claude.Registry
}

// mostRegistries are kept open at once: each agent may have one of its own, and descriptors
// are few.
const mostRegistries = 16

// registryKey is what decides in which registry an agent is.
type registryKey struct {
	configDir string
	legacy    bool // the caller's environment decides
}

// entry is [Supervisor.registered].
func (a *registries) entry(r *agent.Record) (claude.Live, error) {
	if registry, opened := a.of(r); opened {
		return ofRecorded(r, registry.Live)
	}
	return a.supervisor.registered(r)
}

func (a *registries) of(r *agent.Record) (registry claude.Registry, opened bool) {
	key := registryKey{configDir: r.ConfigDir, legacy: r.Schema == 0}
	a.mu.Lock()
	defer a.mu.Unlock()
	if registry, opened = a.opened[key]; opened || len(a.opened) == mostRegistries {
		return registry, opened
	}
	config, err := a.supervisor.configOf(r)
	if err != nil {
		return registry, false
	}
	if registry, err = config.OpenRegistry(); err != nil {
		return registry, false
	}
	if a.opened == nil {
		a.opened = map[registryKey]claude.Registry{}
	}
	a.opened[key] = registry
	return registry, true
}

func (a *registries) close() {
	for _, registry := range a.opened {
		_ = registry.Close()
	}
}
