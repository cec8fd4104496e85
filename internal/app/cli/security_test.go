package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// promises are the sentences of the topic security, by their beginnings, and the tests or scripts that hold each.
var promises = map[string]string{
	"Nothing in a project decides anything by itself": "TestPolicyInTheProjectIsAllowedFirst TestAllowSchedules TestProjectPageCountsWhenItIsAllowed TestMemoryThatIsNotAllowed allow.txtar",
	"Each record has a seal":                          "allow.txtar key.txtar",
	"A record without your seal":                      "allow.txtar",
	"A verb that would start something":               "allow.txtar",
	"A verb that ends processes trusts only":          "TestRecordThatClaimsAStrangerEndsNobody TestSecurityRecordWithAnothersMarkEndsNobody",
	"No transcript is archived, restored or removed":  "TestSecurityRecordOfACloneForgesNoConversation TestSecurityDismissalInACloneRemovesNoConversation",
	"A pause without your seal":                       "TestPauseLastsUntilItIsEnded",
	"A runbook of the project runs only":              "TestProjectPageCountsWhenItIsAllowed TestLinksAreNotFollowed",
	"A team.yaml starts and stops":                    "TestWhatAFileMayNot TestATeamFromItsFile TestAllowTeam",
	"Git runs no program":                             "TestNoProgramOfTheRepositoryRuns",
	"allow asks on a terminal only":                   "allow.txtar policy.txtar TestAllowSchedules",
	"No turn is taken in a folder":                    "TestSecurityTurnNeedsTrust",
	"Git ignores .nbs":                                "TestVerbHasGitIgnoreTheFolder TestGitStagesNoRecordInACloneWithAListInTheFolder",
	"Each verb declares":                              "TestEachVerbDeclaresItsPowers",
	"The caller is found":                             "TestSecurityCallerIsWhoItsProcessIs TestSecurityOrphanOfAnAgentIsNoPerson TestSecurityMarkGivesNothing",
	"In another project, an agent sees":               "TestSecurityAgentIsDenied",
	"It is not taken when its agent":                  "TestSecurityTurnOfADismissedAgent",
	"The turns of agents take no place":               "TestSecurityAgentsJamNobody",
	"An agent can give a colleague":                   "TestSecurityColleagueGetsNoMoreThanItsAgent",
	"More needs --may-manage":                         "TestSecurityAgentThatMayManage TestSecurityColleagueGetsNoMoreThanItsAgent",
	"A turn that an agent asks for":                   "TestSecurityTurnGetsNoMoreThanItsAgent TestSecurityAgentIsDenied TestSecurityServedTurnIsItsAgents",
	"An agent stops, interrupts and changes":          "TestSecurityAgentIsDenied",
	"It answers no request of an agent":               "TestWhoMayAnswer TestAnswersOfAnAgentAreWithinItsMode TestSecurityAgentAnswersForNoAgent TestSecurityManagerAnswersWithinItsMode",
	"No file is read for an agent":                    "TestSecurityAgentIsDenied TestSecurityColleagueGetsNoMoreThanItsAgent",
	"What an agent says arrives under its name":       "TestSecurityWordsOfAnAgentAreItsOwn TestEnvelope TestEachPartOfAnAgentsTextIsSigned",
	"A first prompt of an agent":                      "TestSecurityPromptOfAnAgentIsForTheModel",
	"A text that no person typed":                     "TestSecurityTurnGetsNoMoreThanItsAgent",
	"No error quotes a file":                          "TestErrorsQuoteNoFile",
	"A claude that was started by hand":               "TestSecurityClaudeByHandIsNoPerson TestSecurityMarkGivesNothing",
	"Where those are unknown":                         "TestSecurityClaudeByHandIsNoPerson",
	"The user's own status line":                      "TestStatusLineOfAnotherFolderIsNotRun TestUserStatusLineIsTheUsersOwn",
	"The settings of each claude deny":                "TestPowerOfAnAgentsFileTools",
	"A record or a lease moves only":                  "TestForgedHookTakesNoColleaguesLease",
	"No chat is served without":                       "TestAnEmptyListServesNobodyAndSaysSo TestSetupAsksStepByStepAndServeReadsTheAnswers",
	"What it kept counts only":                        "TestServeRefusesABotThatCameWithTheProject",
	"The bot's token is outside":                      "TestSetupAsksStepByStepAndServeReadsTheAnswers TestPowerOfAnAgentsFileTools",
	"Everyone who writes in an allowed chat":          "TestCommands TestOnlyAllowedChatsAreServed TestAChatGetsFilesOfTheProject",
	"--telegram-user limits":                          "TestGroups TestUsersOfOneGroup TestSetupKeepsTheUsersOfEachGroup",
	"/send and /resume, which reach":                  "TestGroups TestAUserGetsAFile TestWhatReachesAgentsIsOff TestAChatGetsFilesOfTheProject",
	"In Matrix, no room is served":                    "TestOnlyServedRoomsAreRead TestServeChecksWhatItIsToldOfMatrix",
	"An invitation of another user":                   "TestInvitations",
	"An agent adds and uses no host":                  "TestSecurityAgentIsDenied",
	"A project names no host":                         "TestWhereTheFileIs",
	"A hosts.yaml that others can":                    "TestAFileThatOthersCanChangeIsRefused",
	"Each word of a command arrives":                  "TestTheWordsArriveUnchanged",
	"ssh asks nothing":                                "TestOptionsOfTheConnection",
	"Files that they wrote":                           "TestFileOfAnotherUserIsNotRead TestTranscriptOfAnotherUserIsNotKept",
	"Their processes never count":                     "TestAnotherUsersClaudeIsNoStranger",
	"Their sockets are not":                           "TestSocketOfAnotherUserIsNotTouched",
	"All files of nbs-worker":                         "TestEverythingIsPrivateWhateverTheUmask TestWhatIsKeptOutsideOfTheProjectIsPrivate",
	"The environment and the secrets":                 "TestCommandLinesAsAnotherUserSeesThem TestNoSecretIsLeftAnywhere",
	"Names, paths, screens and words":                 "TestHostileArgumentsAreShownHarmlessly TestHostileProjectFoldersAndWorkingDirectories",
	"When printed, characters":                        "TestHostileRecordIsShownHarmlessly TestSessionIsHarmless",
	"In JSON they are escaped":                        "TestHostileRecordIsShownHarmlessly",
}

// TestSecurityTopic checks that each sentence of what is promised has a test.
func TestSecurityTopic(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(longOf("security"), "a test holds each sentence:\n")
	section, _, found := strings.Cut(section, "\nWhat is not promised")
	rig.Check(t, found, "the topic has no promises")
	held := map[string]bool{}
	for _, sentence := range sentences(section) {
		beginning := ""
		for known := range promises {
			if strings.HasPrefix(sentence, known) {
				beginning = known
			}
		}
		rig.Check(t, beginning != "", "no test holds: %s", sentence)
		held[beginning] = true
	}
	there := testsAndScripts(t)
	for beginning, tests := range promises {
		rig.Check(t, held[beginning], "the topic promises no more: %s", beginning)
		for _, name := range strings.Fields(tests) {
			rig.Check(t, there[name], "%s is no test, and is to hold: %s", name, beginning)
		}
	}
}

// sentences are those of a text with headings.
func sentences(list string) []string {
	list = regexp.MustCompile(`(?m)^(Against|Between) .*:$`).ReplaceAllString(list, "")
	list = strings.Join(strings.Fields(list), " ")
	return regexp.MustCompile(`[^ ](?:[^.]|\.[^ ])*\.(?: |$)`).FindAllString(list, -1)
}

func testsAndScripts(t *testing.T) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	rig.Must(t, filepath.WalkDir(rig.Root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			there[entry.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, match := range declared.FindAllSubmatch(text, -1) {
				there[string(match[1])] = true
			}
			return err
		}
		return nil
	}))
	return there
}
