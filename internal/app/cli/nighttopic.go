package cli

const nightTopic = `After a night alone, or a reboot, look and repair:

  $ nbs-worker triage
  HANDLE  VERDICT   LEVEL  EVIDENCE
  alice   dead      3      crashed (signal: killed), now
  bob     stressed  2      18% of its context is left (low)
  carol   waiting   0      the registry says waiting, for 1s
  dave    healthy   0      the registry says busy
  $ nbs-worker recover --all
  HANDLE  WAS       DONE                        IS       LEFT
  alice   dead      resume helped               idle     -
  bob     stressed  interrupt and compact h...  idle     -
  carol   waiting   -                           waiting  it needs a person
  dave    healthy   -                           healthy  -

triage prints the command that helps beside each. If recover is killed, run it again. To have it done by itself:

  nbs-worker watch             repairs as recover does, from now on, and
                               tells you of the rest (help policy)
  nbs-worker export systemd    the services for it, on a Mac export
                               launchd: the agents' tmux server,
                               recover at boot, watch, serve
  nbs-worker spawn --restart   an agent's launcher starts it again by
                               itself (help restarts)

nbs-worker pause suspends repairs and restarts. nbs-worker doctor checks what it relies on. The runbooks
restart, fixup, shutdown, handover and move are pages with steps that nbs-worker can run:
nbs-worker help runbook.`
