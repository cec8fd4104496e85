# Plays as much of Homebrew as the formula uses: brew.rb FORMULA SYSTEM ARCH, in the unpacked tar.gz. It prints as JSON
# what it would download and install. A file that is not there ends it.
require "json"

PLAYED = { "system" => ARGV[1], "arch" => ARGV[2] }
SEEN = { "Installed" => [] }

class Place
  def initialize(name)
    @name = name
  end

  def install(*files)
    files.flatten.each do |file|
      raise "#{file} is not in the release" unless File.file?(file)
      SEEN["Installed"] << "#{@name}: #{file}"
    end
  end
end

class Formula
  class << self
    def desc(text) = (raise "desc is too long" if text.length > 80)
    def homepage(_) = nil
    def license(_) = nil
    def depends_on(name) = (raise "unknown package #{name}" unless name == "tmux")
    def version(text) = SEEN["Version"] = text
    def url(text) = SEEN["URL"] = text
    def sha256(text) = SEEN["SHA256"] = text
    def on_macos = (yield if PLAYED["system"] == "darwin")
    def on_linux = (yield if PLAYED["system"] == "linux")
    def on_arm = (yield if PLAYED["arch"] == "arm64")
    def on_intel = (yield if PLAYED["arch"] == "amd64")
    def test = nil
  end

  %w[bin man1 bash_completion zsh_completion fish_completion].each do |name|
    define_method(name) { Place.new(name) }
  end
end

load ARGV[0]
NbsWorker.new.install
puts JSON.generate(SEEN)
