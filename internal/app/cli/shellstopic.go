package cli

const shellsTopic = `TAB completes verbs, flags, models and the handles that fit: send offers agents that run, resume
those that do not. An installation puts the scripts where a shell looks:

  bash  needs the package bash-completion
  zsh   with the prefix ~/.local: write the two lines below into ~/.zshrc,
        above compinit, and start a new shell; after an upgrade, first
        rm ~/.zcompdump*
  fish  looks there by itself

For zsh:

  fpath=(~/.local/share/zsh/site-functions $fpath)
  autoload -U compinit; compinit

Without an installation, for fish; bash and zsh likewise, with the folder where they look:

  nbs-worker completion fish >~/.config/fish/completions/nbs-worker.fish

zsh and fish need quotes around a model with brackets: --model 'sonnet[1m]'. bash and zsh need
single quotes around a text with an exclamation mark. In fish the exit code is $status, and
set -gx NBS_ROOT ~/src sets a variable.`
