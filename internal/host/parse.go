package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/strictyaml"
)

// Hosts are the user's hosts, sorted by name.
type Hosts []Host

// Has reports whether there is a host of a name.
func (all Hosts) Has(name string) bool {
	return slices.ContainsFunc(all, func(h Host) bool { return h.Name == name })
}

// Find returns the host of a name. Errors: NotFound.
func (all Hosts) Find(name string) (Host, error) {
	names := make([]string, len(all))
	for i, h := range all {
		if h.Name == name {
			return h, nil
		}
		names[i] = h.Name
	}
	err := fail.Errorf(fail.NotFound, "there is no host %s", human.Quote(name))
	if near := human.Nearest(name, names); near != "" {
		return Host{}, err.Hint("did you mean %s? to see your hosts: nbs-worker host list", near)
	}
	if len(all) > 0 {
		return Host{}, err.Hint("to see your hosts: nbs-worker host list")
	}
	if CheckName(name) != nil {
		name = "NAME"
	}
	return Host{}, err.Hint("to add it: nbs-worker host add %s DESTINATION", name)
}

// version is the version of the file.
const version = "1"

// Parse parses the file; name is used in messages. Errors: BadInput, which lists all mistakes, each with its place.
func Parse(name string, text []byte) (Hosts, error) {
	var hosts Hosts
	err := strictyaml.Read("hosts", name, text, func(r *strictyaml.Reader, root *yaml.Node) {
		top := r.Fields(root, "the file", "version", "hosts")
		if top == nil {
			return
		}
		if node := top["version"]; node == nil || node.Value != version {
			r.Wrong(root, "the file: it must have version: %s", version)
		}
		if node := top["hosts"]; node != nil && node.Tag != "!!null" {
			hosts = read(r, node)
		}
	})
	if err != nil {
		return nil, fail.Errorf(fail.BadInput, "%w", err).Hint("what it may say: nbs-worker help host")
	}
	slices.SortFunc(hosts, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return hosts, nil
}

// read reads the hosts of the file, in its order.
func read(r *strictyaml.Reader, node *yaml.Node) (hosts Hosts) {
	for name, entry := range r.Pairs(node, "hosts") {
		if slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name.Value }) {
			r.Wrong(name, "there is a host %s already", human.Quote(name.Value))
			continue
		}
		h := Host{Name: name.Value}
		field := func(value *yaml.Node, to *string) {
			if value != nil {
				*to = r.Text(value)
			}
		}
		before := r.Mistakes()
		has := r.Fields(entry, "host "+human.Word(h.Name), "destination", "folder", "program", "limits")
		field(has["destination"], &h.Destination)
		field(has["folder"], &h.Folder)
		field(has["program"], &h.Program)
		h.Folder = BelowHome(h.Folder)
		if limits := has["limits"]; limits != nil {
			h.Limits = readLimits(r, limits)
		}
		if err := h.Check(); err != nil && r.Mistakes() == before {
			r.Wrong(name, "%s", err)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// readLimits reads the limits of a host.
func readLimits(r *strictyaml.Reader, node *yaml.Node) agent.Room {
	has := r.Fields(node, "limits", "agents", "running")
	number := func(value *yaml.Node) (n int) {
		if value == nil {
			return 0
		}
		n, err := strconv.Atoi(value.Value)
		if err != nil || n < 1 {
			r.Wrong(value, "limits: %s is not a number of agents from 1", human.Quote(value.Value))
		}
		return n
	}
	return agent.Room{Agents: number(has["agents"]), Running: number(has["running"])}
}

// BelowHome returns a folder without the ~ that a shell would replace: a relative folder is below the home folder.
func BelowHome(folder string) string {
	if folder == "~" {
		return ""
	}
	return strings.TrimPrefix(folder, "~/")
}

// Check checks the whole host. Errors: BadInput.
func (h Host) Check() error {
	const limit = 1024 // bytes
	if err := CheckName(h.Name); err != nil {
		return err
	}
	if err := CheckDestination(h.Destination); err != nil {
		return err
	}
	if h.Limits.Agents < 0 || h.Limits.Running < 0 {
		return fail.Errorf(fail.BadInput, "a limit of host %s is negative", h.Name)
	}
	if f := h.Folder; len(f) > limit || !isLine(f) || strings.HasPrefix(f, "~") {
		return fail.Errorf(fail.BadInput, "%s is not a folder for a host", human.Quote(f)).
			Hint("name the folder of the project there, such as work/app: a relative one is below the home folder")
	}
	if p := h.Program; len(p) > limit || !isLine(p) || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "-") ||
		strings.Contains(p, "=") || p != "" && !filepath.IsAbs(p) && !strings.Contains(p, "/") && p != "nbs-worker" {
		return fail.Errorf(fail.BadInput, "%s is not a program for a host", human.Quote(p)).
			Hint("name the path of nbs-worker there, such as /opt/nbs/bin/nbs-worker: a relative one is below the home folder")
	}
	return nil
}

// isLine reports whether a text is one legible line.
func isLine(text string) bool { return human.IsLegible(text) && !strings.ContainsAny(text, "\n\t") }
