package schedule

import (
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/human"
)

// location reads a time zone.
func (p *parser) location(node *yaml.Node) *time.Location {
	name := p.Text(node)
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		p.Wrong(node, "zone: %s is no time zone, such as Europe/Berlin or UTC", human.Quote(name))
		return time.UTC
	}
	return zone
}
