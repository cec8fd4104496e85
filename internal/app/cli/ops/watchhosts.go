package ops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/app/farwatch"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
	"nbs-worker/internal/team/recovery/watch"
)

// hostsWatch tells a person what the agents at hosts need.
type hostsWatch struct {
	*ui.Factory

	home   trust.Home
	policy watch.Policy
	hosts  host.Hosts
	file   host.File
	files  *hostFiles
	fleet  *dash.Fleet
	notify *watch.Notify // nil: nothing is sent
	told   *views.Told
	known  farwatch.Known
	sender watch.Sender
}

// watchHosts watches the agents of all hosts until the context ends.
func watchHosts(ctx context.Context, f *ui.Factory, file string) error {
	if err := f.CheckPerson("watch hosts"); err != nil {
		return err
	}
	policy, err := hostsPolicy(f, file)
	if err != nil {
		return err
	}
	w := &hostsWatch{Factory: f, policy: policy, notify: policy.Notify}
	if w.file, err = host.FileOf(os.Environ()); err != nil {
		return err
	}
	if w.files, err = watchHostFiles(ctx, w.file); err != nil {
		return err
	}
	w.hosts, err = w.file.Load()
	if err == nil && len(w.hosts) == 0 {
		err = fail.Errorf(fail.NotFound, "you have no hosts").Hint("to add one: nbs-worker host add NAME DESTINATION")
	}
	if err != nil {
		return err
	}
	if w.home, err = trust.HomeOf(os.Environ()); err != nil {
		return err
	}
	if w.told, err = views.TakeTold(w.home); err != nil {
		return err
	}
	defer w.told.Close()
	if err := w.told.Load(&w.known); err != nil {
		return err
	}
	maps.DeleteFunc(w.known.Lost, func(_ string, loss *farwatch.Loss) bool { return !loss.Told }) // an earlier run's minute is not this one's
	if err := w.reach(ctx, w.hosts); err != nil {
		return err
	}
	defer func() { w.fleet.Close() }()
	outliveReader()
	if err := notify.Ready(); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	f.Note("watching your hosts; what their agents need is printed here")
	return w.run(ctx)
}

// reach follows hosts, by connections of their own, and no others. What was told of others is forgotten. An error changes
// nothing.
func (w *hostsWatch) reach(ctx context.Context, known host.Hosts) error {
	words := dash.Words{Pull: func(*agent.PullRequest) string { return "" }, Limits: func(*agent.Limits, time.Time) string { return "" }}
	team, err := dash.Follow(nil, w.policy.Bands, words)
	if err != nil {
		return err
	}
	hosts, err := dash.Reach(w.home, known, false, words)
	if err != nil {
		team.Close()
		return err
	}
	if len(known) > 0 { // an editor may be writing the file
		w.known.Only(agent.Mapped(known, func(h host.Host) string { return h.Name }))
	}
	if w.fleet != nil {
		w.fleet.Close()
	}
	w.hosts, w.fleet = known, dash.FollowHosts(ctx, team, hosts)
	return nil
}

// reread follows the hosts as the user's files have them now. What fails, such as a mistake in hosts.yaml, is told, and changes
// nothing.
func (w *hostsWatch) reread(ctx context.Context) {
	hosts, err := w.file.Load()
	if err == nil && !slices.Equal(hosts, w.hosts) {
		if err = w.reach(ctx, hosts); err == nil {
			return
		}
	}
	if err != nil {
		w.Say("the hosts stay as they were: %s", err)
	}
	if w.files.sshChanged() {
		w.fleet.Again()
	}
}

// hostsPolicy returns the policy of a file. Only its notify counts here.
func hostsPolicy(f *ui.Factory, file string) (usual watch.Policy, err error) {
	usual = watch.Default()
	if file == "" {
		return usual, nil
	}
	root, err := f.Founding()
	if err != nil {
		return usual, err
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return usual, err
	}
	opened, err := watch.OpenPolicy(path, root)
	if err != nil {
		return usual, err
	}
	return opened.Policy(usual, func(string, string, []byte) error {
		return fail.Errorf(fail.Held, "is in a project, where agents write; that of watch --hosts is elsewhere")
	})
}

func (w *hostsWatch) run(ctx context.Context) error {
	for {
		sight, err := w.fleet.Look(ctx)
		if err != nil {
			return err
		}
		w.learn(&sight)
		if w.known.AsksAgain(w.Now()) {
			w.fleet.Again()
		}
		for w.notify != nil && w.sender.One(ctx, &teller{Program: w.notify.Program}, w.notify.PerHour, &w.known.State, w.failed) {
			w.save()
		}
		if err := w.sleep(ctx); err != nil {
			return err
		}
	}
}

// learn prints what is new, and keeps it until it is sent.
func (w *hostsWatch) learn(sight *dash.Sight) {
	for _, notice := range w.known.Learn(sight, w.Now()) {
		w.print(&notice)
		if w.notify != nil && slices.Contains(w.notify.Of, notice.Kind) {
			w.known.Pend(notice)
		}
	}
	w.save()
}

// save keeps what was told. On a full disk the watch goes on: the next one may tell it once more.
func (w *hostsWatch) save() { _ = w.told.Save(w.known) }

// sleep returns when something may have changed, or is due.
func (w *hostsWatch) sleep(ctx context.Context) error {
	limited, leave := context.WithCancel(ctx)
	defer leave()
	due := w.known.Due()
	if next := w.sender.Next; w.notify != nil && len(w.known.Pending) > 0 && (due.IsZero() || next.Before(due)) {
		due = next
	}
	var over <-chan time.Time
	if !due.IsZero() {
		over = time.After(time.Until(due))
	}
	came := make(chan struct{})
	var err error
	go func() {
		defer close(came)
		err = w.fleet.Await(limited)
	}()
	select {
	case <-came:
		return cmp.Or(ctx.Err(), err)
	case <-over:
		leave()
		<-came
		return ctx.Err()
	case err := <-w.files.lost:
		leave()
		<-came
		if ctx.Err() == nil {
			w.Say("changes of hosts.yaml and ~/.ssh are not seen until this watch is started again: %s", err)
		}
		return ctx.Err()
	case <-w.files.changed:
		leave()
		<-came
		if ctx.Err() == nil {
			w.reread(ctx)
		}
		return ctx.Err()
	}
}

func (w *hostsWatch) failed(notice *watch.Notice, err error) {
	w.Say("%s", fmt.Sprintf("not told that %s is %s: %v", nameOf(notice), notice.Kind, err))
}

// nameOf returns the agent at its host, or the host.
func nameOf(n *watch.Notice) string {
	if n.Handle == "" {
		return n.Host
	}
	return string(n.Handle) + "@" + n.Host
}

func (w *hostsWatch) print(n *watch.Notice) {
	detail := ui.OneLine(ui.Text(n.Detail).Text)
	switch {
	case w.JSON:
		_ = w.PrintJSON(wire.NewNotice(*n, "")) // it goes on even without a reader
	case w.Streams.OutTTY:
		fmt.Fprintf(w.Streams.Out, "%s  %s %s: %s\n", n.At.Local().Format(time.DateTime), nameOf(n), n.Kind, detail)
	default:
		fmt.Fprintf(w.Streams.Out, "%s\t%s\t%s\t%s\n", n.At.UTC().Format(time.RFC3339), nameOf(n), n.Kind, detail)
	}
}
