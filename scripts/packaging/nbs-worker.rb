# Built, not run: make test-release checks its syntax and what it installs. make release fills in what stands between @.
class NbsWorker < Formula
  desc "Starts Claude Code agents in tmux, and brings each back into its conversation"
  homepage "@URL@"
  version "@VERSION@"
  license :cannot_represent

  depends_on "tmux"

  on_macos do
    on_arm do
      url "@URL@/nbs-worker-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SUM-darwin-arm64@"
    end
    on_intel do
      url "@URL@/nbs-worker-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@SUM-darwin-amd64@"
    end
  end

  on_linux do
    on_arm do
      url "@URL@/nbs-worker-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SUM-linux-arm64@"
    end
    on_intel do
      url "@URL@/nbs-worker-@VERSION@-linux-amd64.tar.gz"
      sha256 "@SUM-linux-amd64@"
    end
  end

  def install
    bin.install "bin/nbs-worker"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/nbs-worker"
    zsh_completion.install "share/zsh/site-functions/_nbs-worker"
    fish_completion.install "share/fish/vendor_completions.d/nbs-worker.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nbs-worker version")
  end
end
