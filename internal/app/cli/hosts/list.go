package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

func newListCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "list",
		Short: "List your hosts",
		Long: ui.WithCodes(`Prints one line per host: name, destination, the project's folder there, and the limits of host
add; ~ is the home folder. It connects to no host. In a pipe the fields are separated by tabs.`, fail.Failed, fail.BadInput, fail.Held),
		Example: `  nbs-worker host list
  nbs-worker host list --json | jq -r '.[].name'`,
		Args: ui.NoArguments,
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runList(f), "host list") },
	})
}

func runList(f *ui.Factory) error {
	if err := f.CheckPerson("see the user's hosts"); err != nil {
		return err
	}
	known, err := host.Load(os.Environ())
	if err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(agent.Mapped(known, wire.NewHost))
	}
	if len(known) == 0 {
		f.Note("no hosts; to add one: nbs-worker host add NAME DESTINATION")
		return nil
	}
	t := f.NewTable("HOST", "DESTINATION", "FOLDER", "LIMITS")
	for _, h := range known {
		folder := h.Folder
		switch {
		case folder == "":
			folder = "~"
		case folder[0] != '/':
			folder = "~/" + folder
		}
		t.Row(ui.Text(h.Name), ui.Text(h.Destination), ui.Text(folder), ui.Text(limitsOf(h)))
	}
	return t.Flush()
}

// limitsOf puts the limits of a host in words.
func limitsOf(h host.Host) string {
	var words []string
	if n := h.Limits.Agents; n > 0 {
		words = append(words, human.Count(n, "agent"))
	}
	if n := h.Limits.Running; n > 0 {
		words = append(words, fmt.Sprintf("%d running", n))
	}
	return strings.Join(words, ", ")
}

func newRemoveCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME...",
		Short: "Forget hosts",
		Long: ui.WithCodes(`Removes hosts from ~/.config/nbs-worker/hosts.yaml, with what is kept of them here: what they last
showed, and what ssh said. Nothing changes at the host: its agents go on, and once added again it is
as before.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Held),
		Example: `  nbs-worker host remove build1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "host remove: a name is needed").Hint("to see your hosts: nbs-worker host list")
			}
			return nil
		},
		ValidArgsFunction: f.CompleteHosts,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runRemove(cmd.Context(), f, args), "host remove")
		},
	}
}

func runRemove(ctx context.Context, f *ui.Factory, names []string) error {
	if err := f.CheckPerson("remove a host"); err != nil {
		return err
	}
	file, err := host.FileOf(os.Environ())
	if err == nil {
		_, err = theHosts(names)
	}
	if err != nil {
		return err
	}
	if err := file.Change(ctx, func(all host.Hosts) (host.Hosts, error) {
		return slices.DeleteFunc(all, func(h host.Host) bool { return slices.Contains(names, h.Name) }), nil
	}); err != nil {
		return err
	}
	home, err := trust.HomeOf(os.Environ())
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := errors.Join(link.ForgetLog(home, name), views.Forget(home, name)); err != nil {
			return err
		}
		if err := f.Show(ui.Outcome{Handle: agent.Handle(name), Words: "removed; its agents go on"}, ""); err != nil {
			return err
		}
	}
	return nil
}
