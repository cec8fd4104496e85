.POSIX:

PREFIX = /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
# Where the shells look for completions, below share.
BASH = bash-completion/completions
ZSH = zsh/site-functions
FISH = fish/vendor_completions.d
LINT_VERSION = 2.15.0
# One file for each version, so that a new pin is a new file.
LINT = .cache/bin/golangci-lint-$(LINT_VERSION)
GOTESTSUM_VERSION = 1.13.0
GOTESTSUM = .cache/bin/gotestsum-$(GOTESTSUM_VERSION)
VULN_VERSION = 1.9.0
VULN = .cache/bin/govulncheck-$(VULN_VERSION)
SBOM_VERSION = 1.10.0
SBOM = .cache/bin/cyclonedx-gomod-$(SBOM_VERSION)
# The tag of the commit, or its day and name. A release from an archive sets it: make install VERSION=1.2.
VERSION = $$({ git describe --tags --dirty 2>/dev/null || git log -1 --date=format:%Y%m%d --format=%cd-%h 2>/dev/null || echo unknown; } | sed 's/^v//')
# How many tests of one package run at a time. With two packages, six keep both cores busy; more would only be slower each.
AT_ONCE = 3
# How many packages are tested at a time. Two use both cores of a small machine; a third makes each start slower.
PACKAGES_AT_ONCE = 2
# Our programs, which make test builds once for all packages, without cgo as make build does.
PROGRAMS = $(CURDIR)/build/test
# A line for each package as it ends, and a test that fails in full. Each package that starts claude or tmux has a limit of
# its own, which grows with the machine; -timeout is for what hangs in spite of it. Vet is part of make lint.
TEST = CGO_ENABLED=0 NBS_TEST_BIN=$(PROGRAMS) $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- -count=1 -vet=off -ldflags='-s -w' -p $(PACKAGES_AT_ONCE) -parallel $(AT_ONCE) -timeout 60m
# The packages that take longest begin first.
LONG = ./internal/e2e/life ./internal/e2e/send ./internal/e2e/recover ./internal/e2e/security ./internal/e2e/chat ./internal/e2e/team \
	./internal/team/worktree ./internal/e2e/dash ./internal/sim/contract ./internal/e2e/memory \
	./internal/sim/bench ./internal/memory/observer ./internal/claude/turn
# A life, messages, one list of two hosts, and a cut in each verb.
FEW_OF_HOSTS = TestLifeAtAHost|TestMessagesAtAHost|TestOneNameAtTwoHosts|TestCutInTheMiddleOfEachVerb
# What a user does first, on a release for this machine alone.
FEW_OF_RELEASE = TestInstall.*|TestFreshDebian
# What has tests of each version: it is found by their call of eachVersion.
VERSIONS = ./internal/e2e/... ./internal/sim/contract ./internal/claude/turn ./internal/memory/observer
# How long make fuzz fuzzes each target.
FUZZTIME = 30s
# How many nights make night plays.
NIGHTS = 5

.PHONY: help build programs vet-darwin demo demo-chat test test-hosts quick-hosts test-slurm quick-slurm test-release quick-release release test-all test-rest quick-rest few-of-long-runs few-of-oldest rest-campaign rest-oldest quick race kills faults memory-kills truth messages requests host-cuts parachute night fuzz bench bench-readme lint vuln man docs bootstrap install uninstall clean

help: ## list the targets (default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

build: ## build bin/nbs-worker, and bin/nbs-sim, the simulator
	CGO_ENABLED=0 go build -ldflags "-X nbs-worker/internal/app/cli.stamped=$(VERSION)" -o bin/ ./cmd/...

demo: build ## show a recovery with the real Claude Code, without a network or an account
	scripts/bootstrap demo
	bin/nbs-sim isolate -- scripts/demo

demo-chat: build ## show a conversation in a chat that outlives what is killed, with the real Claude Code
	scripts/bootstrap demo
	bin/nbs-sim isolate -- scripts/demo-chat

test: bootstrap $(GOTESTSUM) programs vet-darwin ## run the tests; they fetch tmux and Claude Code when missing
	$(TEST) $(LONG) $$(go list ./... | grep -v -e /e2e/campaign -e /e2e/hosts -e /sim/hosts -e /e2e/slurm -e /sim/slurm -e /e2e/release)

test-hosts: bootstrap $(GOTESTSUM) programs ## run the tests against hosts, each with an sshd, which are simulated in namespaces; needs root
	scripts/bootstrap hosts
	$(TEST) ./internal/sim/hosts/... ./internal/e2e/hosts/...

test-slurm: bootstrap $(GOTESTSUM) programs ## run the tests of agents that are jobs of Slurm, on nodes that are simulated in namespaces; needs root
	scripts/bootstrap slurm
	$(TEST) ./internal/sim/slurm ./internal/e2e/slurm

test-release: bootstrap $(GOTESTSUM) $(SBOM) programs ## make a release of the last commit and run its tests: packages, install script, a fresh Debian; needs root
	scripts/bootstrap release
	$(TEST) ./internal/e2e/release

quick-hosts: bootstrap $(GOTESTSUM) programs ## run those of test-hosts that show most in a minute
	scripts/bootstrap hosts
	NBS_HOST_CUTS=5 $(TEST) -run '^($(FEW_OF_HOSTS))$$' ./internal/e2e/hosts

quick-release: bootstrap $(GOTESTSUM) $(SBOM) programs ## run those of test-release that show most in some minutes
	scripts/bootstrap release
	NBS_TEST_RELEASE_HERE=1 $(TEST) -run '^($(FEW_OF_RELEASE))$$' ./internal/e2e/release

quick-slurm: bootstrap $(GOTESTSUM) programs ## run the one of test-slurm that shows most in half a minute
	scripts/bootstrap slurm
	$(TEST) -run '^TestOneJobOfAnAgentRuns$$' ./internal/e2e/slurm

test-all: test test-hosts test-slurm test-release test-rest ## run make test, and what it leaves out

test-rest: bootstrap $(GOTESTSUM) programs ## run the tests of each version on the oldest Claude Code, and a tenth of each long run
	$(MAKE) -j 2 rest-campaign rest-oldest

# What make quick-rest runs on the oldest Claude Code. Of the long runs it leaves out a night and real agents, which are never short.
FEW_OF_OLDEST = TestContract|TestTurns|TestFork|TestSendArrives|TestStatesAgainstTheRegistry|TestTheSeedsConversation|TestMemoryFollowsTheAgent|TestRealClaudeComesBack

quick-rest: bootstrap $(GOTESTSUM) programs ## run a part of make test-rest: a test of each subject, and a tenth of most long runs
	$(MAKE) -j 2 few-of-long-runs few-of-oldest

few-of-long-runs:
	$(TEST) -skip '^TestNight$$|^TestTruth$$/^real$$' ./internal/e2e/campaign

few-of-oldest:
	NBS_TEST_OLDEST=1 $(TEST) -p 1 -run '^($(FEW_OF_OLDEST))$$' ./internal/sim/contract ./internal/claude/turn \
		./internal/e2e/life ./internal/e2e/send ./internal/e2e/chat ./internal/e2e/memory ./internal/e2e/recover

# The long runs wait as often as the tests of the oldest Claude Code do: they share the machine. A night begins before the
# others: its limits are by the clock.
rest-campaign:
	$(TEST) -parallel 3 ./internal/e2e/campaign

rest-oldest:
	NBS_MEMORY_KILLS=20 $(TEST) -run '^TestKilledWorker' ./internal/memory/observer
	NBS_TEST_OLDEST=1 $(TEST) -p 1 -run "^($$(awk '/^func Test/ { name = $$2 } /eachVersion\(t\)/ && name { sub(/\(.*/, "", name); print name; name = "" }' \
		$$(grep -rl 'eachVersion(t)' --include='*_test.go' internal) | paste -sd '|'))\$$" $(VERSIONS)

programs:
	CGO_ENABLED=0 go build -ldflags='-s -w' -o $(PROGRAMS)/ ./cmd/...

$(GOTESTSUM):
	CGO_ENABLED=0 GOBIN="$$PWD/.cache/bin" go install gotest.tools/gotestsum@v$(GOTESTSUM_VERSION)
	mv .cache/bin/gotestsum $@

quick: ## run what needs neither tmux nor claude, for the inner loop
	go test $$(go list ./... | grep -v -e /internal/e2e/ -e /internal/sim/ -e /internal/platform/tmux -e /internal/team/launcher)

# The detector sleeps for a second at each exit unless told not to, and kills at random moments would find workers asleep.
race: bootstrap ## run all tests under the race detector
	scripts/bootstrap hosts
	scripts/bootstrap slurm
	GORACE=atexit_sleep_ms=0 NBS_FAULTS="$${NBS_FAULTS:-20}" go test $$(go list ./... | grep -v /e2e/release) -count=1 -timeout 40m -race

memory-kills: bootstrap ## kill the memory's worker 200 times around turns of the real Claude, and as often around played ones; NBS_MEMORY_KILLS, NBS_MEMORY_SEED
	NBS_MEMORY_KILLS="$${NBS_MEMORY_KILLS:-200}" go test ./internal/memory/observer -run '^TestKilledWorker' -count=1 -timeout 60m -v

kills: bootstrap ## kill before each system call by which a program changes files, where make test takes a tenth; NBS_KILLS, NBS_KILLS_SEED
	scripts/bootstrap hosts
	NBS_KILLS="$${NBS_KILLS:-100}" go test $$(git grep -lE 'rig\.Each(Kill|Death)' -- '*_test.go' | sed 's|^|./|; s|/[^/]*$$||' | sort -u) \
		-run 'Kill' -count=1 -timeout 120m -v

faults: bootstrap ## kill 500 times, at each step of each verb, and repair; NBS_FAULTS, NBS_FAULTS_SEED
	NBS_FAULTS="$${NBS_FAULTS:-500}" NBS_FAULTS_SEED="$${NBS_FAULTS_SEED:-$$(date +%s)}" \
		go test ./internal/e2e/campaign -run '^TestFaults$$' -count=1 -timeout 60m -v

truth: bootstrap ## look 23,000 times at agents that are started, stopped and killed meanwhile; NBS_TRUTH, in percent
	NBS_TRUTH="$${NBS_TRUTH:-100}" go test ./internal/e2e/campaign -run '^TestTruth$$' -count=1 -timeout 120m -v

messages: bootstrap ## send 1,000 messages to agents that do all they can meanwhile; NBS_MESSAGES
	NBS_MESSAGES="$${NBS_MESSAGES:-1000}" go test ./internal/e2e/campaign -run '^TestMessageTorture$$' -count=1 -timeout 120m -v

requests: bootstrap ## answer 200 requests of real agents in all ways, while hooks, answerers and claudes are killed; NBS_REQUESTS, NBS_REQUESTS_SEED
	NBS_REQUESTS="$${NBS_REQUESTS:-200}" NBS_REQUESTS_SEED="$${NBS_REQUESTS_SEED:-$$(date +%s)}" \
		go test ./internal/e2e/campaign -run '^TestRequestsAreAnswered$$' -count=1 -parallel 4 -timeout 60m -v

host-cuts: bootstrap ## cut the network 300 times in the middle of verbs at a host; NBS_HOST_CUTS, NBS_HOST_CUTS_SEED
	scripts/bootstrap hosts
	NBS_HOST_CUTS="$${NBS_HOST_CUTS:-300}" NBS_HOST_CUTS_SEED="$${NBS_HOST_CUTS_SEED:-$$(date +%s)}" \
		go test ./internal/e2e/hosts -run '^TestCutInTheMiddleOfEachVerb$$' -count=1 -timeout 60m -v

parachute: bootstrap ## kill who asks, claude and the server 300 times in the middle of turns, and as often a bot's; NBS_PARACHUTE, NBS_PARACHUTE_SEED
	NBS_PARACHUTE="$${NBS_PARACHUTE:-300}" NBS_PARACHUTE_SEED="$${NBS_PARACHUTE_SEED:-$$(date +%s)}" \
		go test ./internal/e2e/campaign -run '^TestParachute' -count=1 -timeout 60m -v

night: bootstrap ## leave a team of ten alone, with what goes wrong in a night, NIGHTS (5) times; NBS_NIGHT_SEED
	NBS_NIGHTS=$(NIGHTS) NBS_NIGHT_SEED="$${NBS_NIGHT_SEED:-$$(date +%s)}" \
		go test ./internal/e2e/campaign -run '^TestNight$$' -count=1 -parallel 1 -timeout 60m -v

bench: build ## measure every verb against its floor, into build/bench.json; takes minutes
	scripts/bootstrap bench
	bin/nbs-sim isolate -- bin/nbs-sim bench --claude .cache/claude/2.1.332/claude --out build/bench.json

bench-readme: build ## put the table of build/bench.json into README.md
	bin/nbs-sim bench --out build/bench.json --readme README.md

fuzz: ## fuzz each reader of what others wrote, for FUZZTIME (30s) each
	@for dir in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
		for target in $$(go test -list '^Fuzz' "./$$dir" | grep '^Fuzz'); do \
			echo "== $$dir $$target"; \
			go test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done

# The product for macOS is built and vetted, not run; the go command remembers what it has vetted. What simulates Linux stays out.
vet-darwin:
	@for arch in amd64 arm64; do \
		GOOS=darwin GOARCH=$$arch CGO_ENABLED=0 go vet ./... && \
		GOOS=darwin GOARCH=$$arch CGO_ENABLED=0 go build -o $(PROGRAMS)/darwin-$$arch/ ./cmd/nbs-worker || exit 1; \
	done

lint: $(LINT) vet-darwin ## check format, vet (for macOS too), linters, architecture rules, go.mod
	@files=$$(gofmt -l cmd internal runbooks) && { test -z "$$files" || { echo "not formatted: $$files" >&2; exit 1; }; }
	go vet ./...
	go mod tidy -diff
	$(LINT) run

$(LINT):
	CGO_ENABLED=0 GOBIN="$$PWD/.cache/bin" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION)
	mv .cache/bin/golangci-lint $@

vuln: $(VULN) ## look for known vulnerabilities in what is linked, where their database can be reached
	@scripts/vuln $(VULN)

$(VULN):
	CGO_ENABLED=0 GOBIN="$$PWD/.cache/bin" go install golang.org/x/vuln/cmd/govulncheck@v$(VULN_VERSION)
	mv .cache/bin/govulncheck $@

release: $(SBOM) ## make a release of the last commit in build/release; scripts/release says how, and which variables it takes
	@SBOM=$(SBOM) scripts/release

$(SBOM):
	CGO_ENABLED=0 GOBIN="$$PWD/.cache/bin" go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v$(SBOM_VERSION)
	mv .cache/bin/cyclonedx-gomod $@

man: ## generate the man pages into build/man
	rm -rf build/man
	SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct)" go run ./internal/app/cli/mangen man build/man

docs: ## generate the Markdown pages of the help, which are checked in
	go generate ./internal/app/cli/mangen

bootstrap: ## fetch what the tests need: tmux, jq, strace, mke2fs, systemd-analyze, the pinned Claude Code
	scripts/bootstrap test

install: build man ## install the program, the man pages and the completions under PREFIX (/usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(SHARE)/man/man1" "$(SHARE)/$(BASH)" "$(SHARE)/$(ZSH)" "$(SHARE)/$(FISH)"
	install -m 755 bin/nbs-worker "$(DESTDIR)$(PREFIX)/bin"
	install -m 644 build/man/*.1 "$(SHARE)/man/man1"
	bin/nbs-worker completion bash >"$(SHARE)/$(BASH)/nbs-worker"
	bin/nbs-worker completion zsh >"$(SHARE)/$(ZSH)/_nbs-worker"
	bin/nbs-worker completion fish >"$(SHARE)/$(FISH)/nbs-worker.fish"
	@echo 'nbs-worker is installed: $(DESTDIR)$(PREFIX)/bin/nbs-worker'
	@case ":$$PATH:" in *':$(PREFIX)/bin:'*) ;; *) echo 'Put it into your PATH: export PATH="$(PREFIX)/bin:$$PATH"' ;; esac
	@echo 'Begin with: nbs-worker doctor'

uninstall: ## remove what make install has installed under PREFIX; your projects and their records stay
	@rm -f "$(DESTDIR)$(PREFIX)/bin/nbs-worker"
	@rm -f "$(SHARE)"/man/man1/nbs-worker.1 "$(SHARE)"/man/man1/nbs-worker-*.1
	@rm -f "$(SHARE)/$(BASH)/nbs-worker" "$(SHARE)/$(ZSH)/_nbs-worker" "$(SHARE)/$(FISH)/nbs-worker.fish"
	@# Empty folders go too, but not those of the system.
	@case '$(PREFIX)' in '' | / | /usr | /usr/* | /opt/homebrew) ;; *) \
		for dir in share/man/man1 share/man share/$(BASH) share/bash-completion share/$(ZSH) share/zsh share/$(FISH) share/fish share bin; do \
			rmdir "$(DESTDIR)$(PREFIX)/$$dir" 2>/dev/null || true; done ;; esac
	@echo 'nbs-worker is removed from $(DESTDIR)$(PREFIX). These stay: .nbs in each project,'
	@echo 'in your home .local/state/nbs-worker and .config/nbs-worker, exported services and skills.'

clean: ## remove what was built; what bootstrap fetched stays in .cache
	rm -rf bin build
