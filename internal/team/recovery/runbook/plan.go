package runbook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Plan is a page with its parameters set.
type Plan struct {
	Page   *Page
	Values map[string]string // of all parameters
	Steps  []Planned

	set map[string]string // what the caller has set
}

// Planned is a step as it would run.
type Planned struct {
	Step

	Commands [][]string // arguments of nbs-worker
}

// Plan sets the parameters of a page. Errors: BadInput when a parameter is missing, does not belong to the page, or
// cannot be an argument.
func (p *Page) Plan(set map[string]string) (Plan, error) {
	for name, value := range set {
		if p.parameter(name) == nil {
			return Plan{}, fail.Errorf(fail.BadInput, "the runbook has no parameter %s", human.Quote(name)).
				Hint("to see what it takes: nbs-worker runbook show %s", p.Name)
		}
		if err := checkValue(value); err != nil {
			return Plan{}, fail.Errorf(fail.BadInput, "--set %s: %w", name, err)
		}
	}
	values := map[string]string{}
	for _, q := range p.Parameters {
		value, given := set[q.Name]
		if !given && q.Required {
			return Plan{}, fail.Errorf(fail.BadInput, "%s is not set: %s", q.Name, q.About).
				Hint("set it: nbs-worker runbook run %s --set %s=VALUE", p.Name, q.Name)
		}
		if !given {
			value = q.Default
		}
		values[q.Name] = value
	}
	plan := Plan{Page: p, Values: values, set: set}
	for _, step := range p.Steps {
		plan.Steps = append(plan.Steps, planned(step, values))
	}
	return plan, nil
}

// checkValue refuses a value that a verb would not take as one argument.
func checkValue(value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return errors.New("the value is empty")
	case strings.HasPrefix(value, "-"):
		return fmt.Errorf("%s would be taken for a flag", human.Quote(value))
	case strings.ContainsRune(value, 0):
		return errors.New("the value has a zero byte")
	}
	return nil
}

func planned(step Step, values map[string]string) Planned {
	out := Planned{Step: step}
	for _, command := range step.Commands {
		var args []string
		for _, w := range command.words {
			if w.parameter != "" {
				w.text = values[w.parameter]
			}
			args = append(args, w.text)
		}
		out.Commands = append(out.Commands, args)
	}
	return out
}

// Key names the run of the page with these values: other values are another run.
func (p *Plan) Key() string {
	const enough = 8 // bytes
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		fmt.Fprintf(h, "%s\x00%s\x00", name, p.Values[name])
	}
	return p.Page.Name + "-" + hex.EncodeToString(h.Sum(nil)[:enough])
}

// Command returns the arguments of nbs-worker that run the page with these values.
func (p *Plan) Command() []string {
	args := []string{"runbook", "run", p.Page.Name}
	for _, name := range slices.Sorted(maps.Keys(p.set)) {
		args = append(args, "--set", name+"="+p.set[name])
	}
	return args
}
