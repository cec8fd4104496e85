package doctor

import (
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/inspect"
	"nbs-worker/internal/proc"
)

// clockSlack is how far two clocks may differ without anybody minding.
const clockSlack = 2 * time.Minute

const clockWhy = "ages, uptimes and what is still fresh are told by the clock; identities of processes are not, so no agent is mistaken"

func (d *examination) fromTheFuture(row inspect.Row) (all findings) {
	latest := row.Record.Started
	for _, exit := range row.Record.Exits {
		if exit.At.After(latest) {
			latest = exit.At
		}
	}
	if ahead := latest.Sub(d.Seconds()); ahead > clockSlack {
		all.add(Warning, fmt.Sprintf("the record of %s is %s ahead of the clock", row.Handle, ahead.Round(time.Second)), clockWhy, "set the clock: timedatectl set-ntp true")
	}
	return all
}

func (d *examination) beforeBoot(_ context.Context) (all findings) {
	boot, err := proc.BootTime()
	if err != nil {
		return found(Note, "when the machine was started cannot be told", "")
	}
	for _, row := range d.live() {
		if early := boot.Sub(row.Record.Started); early > clockSlack {
			all.add(Warning, fmt.Sprintf("%s runs, and was started %s before the machine, by the clock", row.Handle, early.Round(time.Second)), clockWhy+"; the clock was set since, as after a suspended machine woke",
				"to see whether it is kept: timedatectl")
		}
	}
	if ahead := boot.Sub(d.Now()); ahead > clockSlack {
		all.add(Warning, "the machine was started in the future, by its clock", clockWhy, "set the clock: timedatectl set-ntp true")
	}
	return all
}
