package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/team/caller"
)

// powers maps each verb to its rights. The factory opens no project for a verb that is missing here.
var powers = map[string]caller.Rule{
	"version":                       {Right: caller.Anyone, What: "print versions"},
	"schema":                        {Right: caller.Anyone, What: "print the shapes of the JSON"},
	"list":                          {Right: caller.Anyone, What: "show the states of the agents"},
	"status-line":                   {Right: caller.Anyone, What: "show which agents need a person"},
	"wait":                          {Right: caller.Anyone, What: "wait for a state of agents"},
	"triage":                        {Right: caller.Anyone, What: "say what each agent needs"},
	"hook":                          {Right: caller.Anyone, What: "report of its own claude"},
	"statusline":                    {Right: caller.Anyone, What: "report of its own claude"},
	cobra.ShellCompRequestCmd:       {Right: caller.Anyone, What: "complete names"},
	cobra.ShellCompNoDescRequestCmd: {Right: caller.Anyone, What: "complete names"},
	"runbook list":                  {Right: caller.Anyone, What: "list the runbooks"},
	"runbook run":                   {Right: caller.Anyone, What: "run the steps of a runbook, each by its own right"},

	"diff":                 {Right: caller.Member, What: "compare the agents with the team file"},
	"worktree list":        {Right: caller.Member, What: "list the worktrees"},
	"session":              {Right: caller.Member, What: "show the record and the state of an agent"},
	"runbook show":         {Right: caller.Member, What: "show a runbook"},
	"schedule list":        {Right: caller.Member, What: "list the schedules"},
	"schedule next":        {Right: caller.Member, What: "show the next runs"},
	"screen":               {Right: caller.Member, What: "show the screen of an agent"},
	"logs":                 {Right: caller.Member, What: "show what an agent said and did"},
	"cost":                 {Right: caller.Member, What: "show what the agents have spent"},
	"search":               {Right: caller.Member, What: "search what agents said and did"},
	"events":               {Right: caller.Member, What: "show the journal"},
	"requests":             {Right: caller.Member, What: "show what agents ask for"},
	"outbox list":          {Right: caller.Member, What: "show the messages that wait for agents"},
	"conversation list":    {Right: caller.Member, What: "list the conversations"},
	"conversation show":    {Right: caller.Member, What: "show a conversation"},
	"conversation history": {Right: caller.Member, What: "show what was said in a conversation"},
	"conversation queue":   {Right: caller.Member, What: "show the turns that wait"},
	"memory list":          {Right: caller.Member, What: "list what is remembered"},
	"memory search":        {Right: caller.Member, What: "search what is remembered"},
	"memory show":          {Right: caller.Member, What: "show what is remembered"},
	"memory brief":         {Right: caller.Member, What: "show what a fresh conversation is told"},
	"memory status":        {Right: caller.Member, What: "show how far the agents are observed"},
	"memory check":         {Right: caller.Member, What: "check the memory for damage"},
	"send":                 {Right: caller.Member, What: "send agents a message"},
	"tell":                 {Right: caller.Member, What: "write to a chat"},
	"doctor":               {Right: caller.Member, What: "check this machine and the project, and start a claude of its own for it"},
	"export":               {Right: caller.Member, What: "print the units of the services"},
	"memory export":        {Right: caller.Member, What: "print what is remembered"},
	"outbox deliver":       {Right: caller.Member, What: "type the messages that wait"},

	"spawn":      {Right: caller.Within, What: "start an agent"},
	"resume":     {Right: caller.Within, What: "bring agents back"},
	"recover":    {Right: caller.Within, What: "do what agents need"},
	"run":        {Right: caller.Within, What: "run an agent in this terminal"},
	"ask":        {Right: caller.Within, What: "take a turn in a conversation"},
	"interrupt":  {Right: caller.Within, What: "end the present turn of agents"},
	"stop":       {Right: caller.Within, What: "stop agents"},
	"down":       {Right: caller.Within, What: "stop a team"},
	"dismiss":    {Right: caller.Within, What: "remove agents"},
	"set":        {Right: caller.Within, What: "change the record of an agent"},
	"reset":      {Right: caller.Within, What: "forget the failures of agents"},
	"memory on":  {Right: caller.Within, What: "have agents observed"},
	"memory off": {Right: caller.Within, What: "have agents observed no more"},
	"memory add": {Right: caller.Within, What: "write an observation"},

	"conversation interrupt": {Right: caller.Within, What: "stop a turn of a conversation"},

	"approve": {Right: caller.Manager, What: "answer for an agent"},
	"deny":    {Right: caller.Manager, What: "answer for an agent"},
	"answer":  {Right: caller.Manager, What: "answer for an agent"},
	"next":    {Right: caller.Manager, What: "see which agent has needed a person longest"},
	"changes": {Right: caller.Manager, What: "see what an agent has changed"},
	"adopt":   {Right: caller.Manager, What: "adopt a claude"},
	"pause":   {Right: caller.Manager, What: "pause a project"},
	"unpause": {Right: caller.Manager, What: "unpause a project"},

	"allow":                {Right: caller.Person, What: "allow"},
	"team init":            {Right: caller.Person, What: "write the team file"},
	"team schema":          {Right: caller.Anyone, What: "print the schema of the team file"},
	"up":                   {Right: caller.Person, What: "start a team"},
	"restart":              {Right: caller.Person, What: "restart a team"},
	"project list":         {Right: caller.Person, What: "see the user's projects"},
	"worktree restore":     {Right: caller.Person, What: "bring back a worktree"},
	"project forget":       {Right: caller.Person, What: "forget a project"},
	"attach":               {Right: caller.Person, What: "go to the terminal of an agent"},
	"dash":                 {Right: caller.Person, What: "watch and change the agents on one screen"},
	"compact":              {Right: caller.Person, What: "give a command of Claude's own to another agent"},
	"rename":               {Right: caller.Person, What: "rename an agent"},
	"fork":                 {Right: caller.Person, What: "copy a conversation for another agent"},
	"serve":                {Right: caller.Person, What: "serve conversations"},
	"serve check":          {Right: caller.Person, What: "check the bot"},
	"serve setup telegram": {Right: caller.Person, What: "set up a bot"},
	"watch":                {Right: caller.Person, What: "watch a project"},
	"outbox drop":          {Right: caller.Person, What: "decide on the messages that are kept for an agent"},
	"outbox retry":         {Right: caller.Person, What: "decide on the messages that are kept for an agent"},
	"schedule run":         {Right: caller.Person, What: "run a schedule"},
	"conversation reset":   {Right: caller.Person, What: "decide on a conversation"},
	"conversation retry":   {Right: caller.Person, What: "decide on a conversation"},
	"conversation skip":    {Right: caller.Person, What: "decide on a conversation"},
	"conversation restore": {Right: caller.Person, What: "decide on a conversation"},
	"conversation name":    {Right: caller.Person, What: "decide on a conversation"},
	"conversation import":  {Right: caller.Person, What: "take over conversations"},
	"memory work":          {Right: caller.Person, What: "observe the agents"},
	"memory allow":         {Right: caller.Person, What: "allow"},
	"memory import":        {Right: caller.Person, What: "take over what is remembered"},
	"memory backup":        {Right: caller.Person, What: "copy the database of the memory"},
	"memory forget":        {Right: caller.Person, What: "forget what is remembered"},
}

// verbOf returns a verb's name in powers.
func verbOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}
