package messages

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/answer"
)

// answerCodes are the exit codes of the verbs that answer a request.
var answerCodes = []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Held, fail.Interrupted}

func newApproveCmd(f *ui.Factory) *cobra.Command {
	say := answer.Say{Allow: true}
	cmd := answerCmd(f, "approve <handle> [ID]", "Allow what an agent asks for", `Allows the request with this id, and no other. ID may be left out if the agent has only one
open request. If the request is over or answered already, nothing happens, and approve ends
with 5. 0 means that the agent's hook has taken the answer and the dialog is gone.

With --always, Claude also adds the rules that it suggests itself, and approve prints them.
nbs-worker requests shows them before: Claude may suggest more than this request needs, such as
another permission mode. If it suggests none, nothing happens.

An agent may approve only if it was spawned with --may-manage, and only what its own permission
mode does without asking: in acceptEdits and auto, edits of files in its own folder whose path
has no hidden name; in bypassPermissions, everything. --always needs bypassPermissions.`,
		`  nbs-worker approve theologian
  nbs-worker approve theologian 3f2a91bc --always`, &say)
	cmd.Args = handleAndID
	cmd.Flags().BoolVar(&say.Always, "always", false, "also add the rules that Claude suggests")
	return cmd
}

func newDenyCmd(f *ui.Factory) *cobra.Command {
	say := answer.Say{}
	cmd := answerCmd(f, "deny <handle> [ID]", "Refuse what an agent asks for", `Refuses the request with this id, and no other. ID may be left out if the agent has only one
open request. The model gets the text of --message and goes on. If the request is over or
answered already, nothing happens, and deny ends with 5. 0 means that the agent's hook has
taken the answer and the dialog is gone. An agent may deny only if it was spawned with
--may-manage.`,
		`  nbs-worker deny theologian
  nbs-worker deny theologian 3f2a91bc --message 'Use make clean.'`, &say)
	cmd.Args = handleAndID
	cmd.Flags().StringVar(&say.Message, "message", "", "what the model is told")
	return cmd
}

func newAnswerCmd(f *ui.Factory) *cobra.Command {
	cmd := answerCmd(f, "answer <handle> [ID] CHOICE...", "Answer an agent's question", `Answers the question with this id, and no other. ID may be left out if the agent has only one
open request. A CHOICE is the number of an option, its label, or words of your own as one
argument. If several options may be chosen, give several. If several questions are asked at
once, give one CHOICE for each, in their order; several options are then a list: 1,3.

If the request is over or answered already, nothing happens, and answer ends with 5. 0 means
that the agent's hook has taken the answer and the dialog is gone. An agent may answer only if
it was spawned with --may-manage.`,
		`  nbs-worker answer theologian 2
  nbs-worker answer theologian 3f2a91bc 'Neither: use SQLite.'
  nbs-worker answer theologian 1 3`, nil)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return fail.Errorf(fail.BadInput, "answer: a choice is needed").Hint("to see the options: nbs-worker requests %s", args[0])
		}
		return ui.SomeHandles(cmd, args[:min(1, len(args))])
	}
	return cmd
}

// handleAndID checks the arguments of a verb for one request.
func handleAndID(cmd *cobra.Command, args []string) error {
	if len(args) > 2 {
		return fail.Errorf(fail.BadInput, "%s: a handle and at most one id are needed, %d arguments given", cmd.Name(), len(args)).
			Hint("%s --help", cmd.CommandPath())
	}
	return ui.SomeHandles(cmd, args[:min(1, len(args))])
}

// answerCmd is a verb that answers one request. Without say, the words after the handle are an id and choices.
func answerCmd(f *ui.Factory, use, short, long, example string, say *answer.Say) *cobra.Command {
	verb, _, _ := strings.Cut(use, " ")
	return f.WithJSON(&cobra.Command{
		Use:               use,
		Short:             short,
		Long:              ui.WithCodes(long, answerCodes...),
		Example:           example,
		ValidArgsFunction: completeRequests(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runAnswer(cmd.Context(), f, args, say), verb, args[0])
		},
	})
}

func runAnswer(ctx context.Context, f *ui.Factory, args []string, say *answer.Say) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	answerer, handle, id := answer.New(s.Project, s.Caller), agent.Handle(args[0]), ""
	if say != nil {
		if id = strings.Join(args[1:], ""); id == "" && len(args) > 1 { // not the only one: a script's variable may be empty
			return fail.Errorf(fail.BadInput, "the id is empty").Hint("to see the ids: nbs-worker requests %s", handle)
		}
	} else {
		say = &answer.Say{}
		if id, say.Choices, err = answerer.Split(ctx, handle, args[1:]); err != nil {
			return err
		}
		if len(say.Choices) == 0 {
			return fail.Errorf(fail.BadInput, "a choice is needed").Hint("to see the options: nbs-worker requests %s", handle)
		}
	}
	receipt, err := answerer.Answer(ctx, handle, id, *say)
	if err != nil {
		return err
	}
	made := wire.NewAnswered(receipt)
	words := made.Answer + ": " + made.Title
	if len(made.Rules) > 0 {
		words += "; from now on: " + human.And(made.Rules)
	}
	return f.ShowOne(ui.Outcome{JSON: made, Handle: made.Handle, Words: words})
}

// completeRequests completes a handle, and then the ids of its open requests.
func completeRequests(f *ui.Factory) ui.Completion {
	handles := f.HandlesWhere(ui.Running)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return handles(cmd, args, toComplete)
		}
		var ids []string
		if s, err := f.Supervisor(); err == nil && len(args) == 1 {
			open, _ := answer.New(s.Project, s.Caller).List(cmd.Context(), agent.Handle(args[0]))
			for _, r := range open {
				ids = append(ids, r.ID+"\t"+answer.Describe(r).Title)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
