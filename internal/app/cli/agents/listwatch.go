package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/team/attention"
)

// The list that is printed again at each change.

// watchList prints the agents of projects until the context ends. Errors: that of the context.
func watchList(ctx context.Context, f *ui.Factory, all []*ui.OpenProject, o *listOptions, bands agent.Bands) error {
	w, err := follow(all)
	if err != nil {
		return err
	}
	defer w.Close()
	isScreen := f.Streams.OutTTY && !f.JSON
	show := (&changeLog{Factory: f, bands: bands, o: o}).print
	resized := make(chan os.Signal, 1)
	if isScreen {
		show = (&screenTable{Factory: f, bands: bands, o: o}).draw
		signal.Notify(resized, unix.SIGWINCH)
		defer signal.Stop(resized)
	}
	return w.run(f.Streams.WhileRead(ctx), resized, func() (ages bool, err error) {
		if !o.allProjects && all[0].Err != nil {
			return false, all[0].Err
		}
		return isScreen, show(all)
	})
}

// screenTable is the table on a terminal.
type screenTable struct {
	*ui.Factory

	o     *listOptions
	bands agent.Bands
	drawn bool
}

// draw replaces the table. What does not fit the screen is counted.
func (s *screenTable) draw(all []*ui.OpenProject) error {
	var table bytes.Buffer
	streams := s.Streams
	width, height := streams.Size()
	s.Streams.Out, s.Streams.Width = &table, width
	if streams.ErrTTY {
		s.Streams.Err = &table
	}
	err := printLook(s.Factory, all, s.o, s.bands)
	s.Streams = streams
	if _, some := errors.AsType[*ui.Partial](err); err != nil && !some { // which the table shows
		return err
	}
	lines := slices.Collect(strings.Lines(table.String()))
	if more := len(lines) - (height - 1); height > 1 && more > 0 {
		lines = append(lines[:height-2], fmt.Sprintf("and %d more lines\n", more+1))
	}
	const noWrap, wrap, home, clearLine, clearBelow = "\x1b[?7l", "\x1b[?7h", "\x1b[H", "\x1b[K", "\x1b[J"
	above := ""
	if !s.drawn {
		s.drawn, above = true, strings.Repeat("\n", max(0, height-1)) // what was shown goes to the terminal's history
	}
	_, err = io.WriteString(streams.Out, noWrap+above+home+strings.ReplaceAll(strings.Join(lines, ""), "\n", clearLine+"\n")+clearBelow+wrap)
	return err
}

// changeLog prints agents for programs: each one that has changed.
type changeLog struct {
	*ui.Factory

	o     *listOptions
	bands agent.Bands
	last  map[listedAgent]string // as printed, without ages
	said  string                 // what is unknown
}

type listedAgent struct {
	project string
	handle  agent.Handle
}

// print prints the agents that have changed, and those that are no more.
func (l *changeLog) print(all []*ui.OpenProject) error {
	l.report(all)
	before, last := l.last, map[listedAgent]string{}
	for _, p := range all {
		if p.Err != nil { // its agents are unknown, and not gone
			for is, text := range before {
				if is.project == p.Path {
					last[is] = text
				}
			}
			continue
		}
		if l.o.usage {
			p.Inspector.Measure(p.Rows)
		}
		lookAtTrees(p)
		for _, one := range jsonRows(p.Rows, p.Judge(l.bands)) {
			one.Project = l.named(p.Path)
			text, err := ageless(one)
			if err != nil {
				return err
			}
			is := listedAgent{p.Path, one.Handle}
			if last[is] = text; text == before[is] {
				continue
			}
			if err := l.PrintJSON(one); err != nil {
				return err
			}
		}
	}
	l.last = last
	for is := range before {
		if _, there := last[is]; there {
			continue
		}
		if err := l.PrintJSON(wire.Dismissed{Project: l.named(is.project), Handle: is.handle, Dismissed: true}); err != nil {
			return err
		}
	}
	return nil
}

// named returns how an agent names its project.
func (l *changeLog) named(project string) string {
	if l.o.allProjects {
		return project
	}
	return ""
}

// report prints what is unknown of the agents, once.
func (l *changeLog) report(all []*ui.OpenProject) {
	var text bytes.Buffer
	to := l.Streams.Err
	l.Streams.Err = &text
	for _, p := range all {
		reportProject(l.Factory, "list", p, &ui.Partial{})
	}
	l.Streams.Err = to
	if text.String() != l.said {
		l.said = text.String()
		_, _ = to.Write(text.Bytes())
	}
}

// ageless returns the JSON of an agent without what changes by the clock or, as memory does, all the time.
func ageless(one wire.Agent) (string, error) {
	one.StateAgeMS, one.Usage = nil, nil
	if one.Context != nil {
		context := *one.Context
		context.AgeS, one.Context = nil, &context
	}
	if one.Needs != nil {
		needs := *one.Needs
		one.Needs, needs.SeenAt = &needs, nil
		if needs.Reason != attention.Done {
			needs.Since = nil // computed from an age: it differs by milliseconds
		}
	}
	if one.Limits != nil {
		limits := *one.Limits
		limits.AgeS, one.Limits = 0, &limits
	}
	text, err := json.Marshal(one)
	return string(text), err
}
