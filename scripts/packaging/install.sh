#!/bin/sh
# Installs nbs-worker from a release, upgrades it, or removes it:
#
#   sh install.sh               into ~/.local: the program, its man pages and completions
#   sh install.sh --uninstall   removes what it has installed
#
# PREFIX names another folder than ~/.local. NBS_RELEASE_URL names the address of the folder with
# the files of the release. The sum of what is downloaded is checked. Its signature is checked
# too, where ssh-keygen and a file with the keys that you trust are there: NBS_ALLOWED_SIGNERS, or
# ~/.config/nbs-worker/allowed_signers, in the format of ssh-keygen -Y verify.
#
# A running program is replaced in one step. Agents that run go on.
set -eu

release_url='' # make release fills it in
stall=30       # a download ends after so many seconds without data; it may be as slow as the line is

say() { printf '%s\n' "$*"; }

die() { # cause, hint
	printf 'install.sh: %s\n' "$1" >&2
	[ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
	exit 1
}

prepare() {
	umask 022
	: "${HOME:=}"
	prefix=${PREFIX:-${HOME:+$HOME/.local}}
	[ -n "$prefix" ] || die 'find the folder to install into: neither PREFIX nor HOME is set' 'PREFIX=/usr/local sh install.sh'
	case $prefix in
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	while case $prefix in ?*/) ;; *) false ;; esac do prefix=${prefix%/}; done
	places='bin share/nbs-worker share/man/man1 share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d'
	# What this script has made, one a line. Each ../ is a folder above the prefix.
	list=share/nbs-worker/installed
	temp='' staged='' program='' made='' plan=''
	trap clean EXIT
	trap 'exit 130' INT TERM HUP
}

# clean removes what a failed run has left, with the folders that it has made.
clean() {
	[ -z "$staged" ] || rm -f "$staged"
	[ -z "$program" ] || rm -f "$program"
	[ -z "$temp" ] || rm -rf "$temp"
	remove_folders "$made"
	[ -z "$plan" ] || rm -f "$plan"
}

# The longest path first: a folder goes before the one that it is in. One that is not empty stays.
remove_folders() { # lines
	printf '%s\n' "$1" | grep '/$' | grep -v '\.\.' | LC_ALL=C sort -r | while IFS= read -r dir; do rmdir "$prefix/$dir" 2>/dev/null || true; done
	up=../ above=$(dirname "$prefix")
	while printf '%s\n' "$1" | grep -qxF "$up" && rmdir "$above" 2>/dev/null; do up=../$up above=$(dirname "$above"); done
}

# --- what is downloaded

platform() { # sets os and arch
	os=$(uname -s) arch=$(uname -m)
	case $os in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) die "choose a program: there is no release for $os" ;;
	esac
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) die "choose a program: there is no release for $os on $arch" ;;
	esac
	if [ "$os-$arch" = darwin-amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
		arch=arm64 # this shell is translated, the machine is not of its kind
	fi
}

# fetch downloads one file of the release, and leaves a message when that fails. Some wgets of busybox
# have no limit.
fetch() { # name
	if command -v curl >/dev/null; then
		curl -fsSL --connect-timeout 30 --speed-limit 1 --speed-time "$stall" -o "$temp/$1" "$url/$1" 2>"$temp/error"
	elif command -v wget >/dev/null; then
		set -- -O "$temp/$1" "$url/$1"
		if wget --version >/dev/null 2>&1; then
			set -- -nv -T "$stall" -t 2 "$@"
		elif wget --help 2>&1 | grep -q -e '-T SEC'; then
			set -- -T "$stall" "$@"
		fi
		wget "$@" 2>"$temp/error"
	else
		die "download $url/$1: neither curl nor wget is there" 'install one of them'
	fi
}

download() { # name
	fetch "$1" || die "download $url/$1: $(tail -n 1 "$temp/error")" 'check the address and the network, and run it again'
}

check_sum() { # name, sum
	if command -v sha256sum >/dev/null; then
		is=$(sha256sum <"$temp/$1")
	elif command -v shasum >/dev/null; then
		is=$(shasum -a 256 <"$temp/$1")
	else
		die 'check the download: neither sha256sum nor shasum is there' 'install one of them'
	fi
	[ "${is%% *}" = "$2" ] ||
		die "check the download: the sum of $1 is not the one in SHA256SUMS; nothing was changed" 'run it again; if it fails again, do not install it'
}

check_signature() {
	signers=${NBS_ALLOWED_SIGNERS:-${XDG_CONFIG_HOME:-$HOME/.config}/nbs-worker/allowed_signers}
	if [ ! -f "$signers" ]; then
		[ -z "${NBS_ALLOWED_SIGNERS:-}" ] || die "check the signature: $signers is not there"
		say "the sum is checked, but not the signature, since you trust no key so far:"
		say "  $signers is not there"
		return
	fi
	command -v ssh-keygen >/dev/null || die 'check the signature: ssh-keygen is not there' "install it, or move $signers away"
	download SHA256SUMS.sig
	ssh-keygen -Y verify -f "$signers" -I nbs-worker -n nbs-worker-release -s "$temp/SHA256SUMS.sig" <"$temp/SHA256SUMS" >/dev/null 2>&1 ||
		die "check the signature: SHA256SUMS of $url is not signed by a key of $signers" 'do not install it'
	say 'the signature is right'
}

# get downloads the release for this machine, and unpacks it into $temp/tree.
get() {
	url=${NBS_RELEASE_URL:-$release_url}
	url=${url%/}
	[ -n "$url" ] || die 'download the release: its address is not known' 'NBS_RELEASE_URL=ADDRESS sh install.sh'
	platform
	temp=$(mktemp -d)
	download SHA256SUMS
	grep -qE '^[0-9a-f]{64} ' "$temp/SHA256SUMS" ||
		die "read SHA256SUMS of $url: it is no list of sums" 'check the address; a proxy may have answered in its place'
	check_signature
	line=$(grep -E "^[0-9a-f]{64}  nbs-worker-[0-9A-Za-z.+~-]+-$os-$arch\.tar\.gz\$" "$temp/SHA256SUMS") || line=
	case $line in
	'' | *'
'*) die "choose a program: SHA256SUMS of $url does not name one for $os on $arch" ;;
	esac
	name=${line##* }
	download "$name"
	check_sum "$name" "${line%% *}"
	mkdir "$temp/tree"
	tar -xzf "$temp/$name" -C "$temp/tree" || die "unpack $name"
	tree=$temp/tree/${name%.tar.gz}
	[ -f "$tree/bin/nbs-worker" ] || die "unpack $name: the program is not in it"
}

# --- what is installed

files() { (cd "$tree" && find bin share -type f | sort); }

# check_writable reports before anything is changed that a folder cannot be written to.
check_writable() { # what is done, hint
	for at in $places; do
		at=$prefix/$at
		while [ ! -e "$at" ] && [ ! -L "$at" ]; do at=$(dirname "$at"); done
		if [ ! -d "$at" ] || [ ! -w "$at" ] || [ ! -x "$at" ]; then
			die "$1 $prefix: you cannot write to $at; nothing was changed" "$2"
		fi
	done
}

# missing prints the folders that are not there yet, those above the prefix too, as the list names them.
missing() { # files
	at=$prefix up=''
	while at=$(dirname "$at") && [ ! -d "$at" ]; do printf '%s\n' "$up../" && up=../$up; done
	for file; do
		at=${file%/*}
		while [ ! -d "$prefix/$at" ]; do
			printf '%s/\n' "$at"
			case $at in
			*/*) at=${at%/*} ;;
			?*) at='' ;;
			*) break ;;
			esac
		done
	done
}

# make_folders makes the folders of these files. The plan names them until the list does, so that the
# next run can remove what a killed one has made.
make_folders() { # files
	made=$(missing "$@" | LC_ALL=C sort -u)
	[ -n "$made" ] || return 0
	at=$prefix/${list%/*}
	while [ ! -d "$at" ]; do at=$(dirname "$at"); done
	plan=$at/.nbs-worker-plan.$$
	rm -f "$plan"
	(set -C && printf '%s\n' "$made" >"$plan") || die "write $plan"
	for file; do
		[ -d "$prefix/${file%/*}" ] || mkdir -p "$prefix/${file%/*}" || die "make the folder $prefix/${file%/*}"
	done
}

# place copies a file beside its destination and moves it there in one step.
place() { # file of the release
	staged=$prefix/${1%/*}/.nbs-worker.$$
	if ! cp "$tree/$1" "$staged" || ! chmod 644 "$staged" || ! mv -f "$staged" "$prefix/$1"; then
		die "write $prefix/$1"
	fi
	staged=
}

# sweep removes the copies of runs that were killed, and the empty folders that they have made. What
# is of a run that goes on stays.
sweep() {
	for at in $places; do
		for left in "$prefix/$at"/.nbs-worker.*; do
			[ ! -f "$left" ] || kill -0 "${left##*.}" 2>/dev/null || rm -f "$left"
		done
	done
	at=$prefix/${list%/*}/.
	while [ "$at" != / ]; do
		at=$(dirname "$at")
		for left in "$at"/.nbs-worker-plan.*; do
			if [ ! -f "$left" ] || kill -0 "${left##*.}" 2>/dev/null; then continue; fi
			remove_folders "$(cat "$left" 2>/dev/null)"
			rm -f "$left" 2>/dev/null || true # of another user, in a folder like /tmp
		done
	done
}

# listed prints the list. It names nothing outside of the prefix but folders above it.
listed() { sed -n -e '/^\(\.\.\/\)\{1,\}$/p' -e '/\.\./!p' "$prefix/$list" 2>/dev/null; }

# note writes the list of what --uninstall removes. It is there before what it names. Folders stay
# in it: another run of this script may have made them just now.
note() { # lines
	staged=$prefix/${list%/*}/.nbs-worker.$$
	printf '%s\n' "$1" "$(listed | grep '/$')" | grep . | LC_ALL=C sort -u >"$staged" || die "write $prefix/$list"
	mv -f "$staged" "$prefix/$list"
	staged=
}

version_of() { "$1" version 2>/dev/null | sed -n '1s/^nbs-worker \([^ ]*\).*/\1/p'; }

install() {
	check_writable 'install into' 'PREFIX=/another/folder sh install.sh'
	sweep
	get
	was=$(version_of "$prefix/bin/nbs-worker") || was=
	old=$(listed) || old=
	new=$(files)
	for file in $new $list; do [ ! -d "$prefix/$file" ] || die "install $prefix/$file: a folder has that name; nothing was changed"; done
	# shellcheck disable=SC2086 # no name in a release has a space
	make_folders $new $list
	folders=$(printf '%s\n' "$made" "$old" | grep '/$') || true

	program=$prefix/bin/.nbs-worker.$$
	if ! cp "$tree/bin/nbs-worker" "$program" || ! chmod 755 "$program"; then
		die "write $prefix/bin/nbs-worker; nothing was changed"
	fi
	is=$(version_of "$program") || is=
	[ -n "$is" ] || die 'run the new program: it does not say its version; nothing was changed' 'the folder may not allow programs: PREFIX=/another/folder sh install.sh'
	note "$old
$folders
$list
$new"
	for file in $new; do [ "$file" = bin/nbs-worker ] || place "$file"; done
	mv -f "$program" "$prefix/bin/nbs-worker" || die "write $prefix/bin/nbs-worker"
	printf '%s\n' "$old" | grep '[^/]$' | while IFS= read -r file; do
		printf '%s\n' "$list" "$new" | grep -qxF "$file" || rm -f "${prefix:?}/$file" # of the version before
	done
	note "$folders
$list
$new"
	report
}

report() {
	say "nbs-worker $is is installed: $prefix/bin/nbs-worker${was:+ (it was $was)}"
	say "man pages and completions: $prefix/share"
	[ -z "$was" ] || say 'Agents that run go on. Each uses the new version from its next start.'
	case :$PATH: in
	*:"$prefix/bin":*)
		found=$(command -v nbs-worker) || found=
		[ -z "$found" ] || [ "$found" = "$prefix/bin/nbs-worker" ] || say "Your PATH finds $found before it."
		;;
	*) say "Put it into your PATH: export PATH=\"$(printf '%s\n' "$prefix" | sed 's/["$`\\]/\\&/g')/bin:\$PATH\"" ;;
	esac
	command -v tmux >/dev/null || say 'It needs tmux 3.2 or newer, which is not there.'
	say 'Begin with: nbs-worker doctor'
}

uninstall() {
	[ -f "$prefix/$list" ] || {
		sweep
		die "remove nbs-worker: nothing in $prefix was installed by this script" 'PREFIX=/another/folder sh install.sh --uninstall'
	}
	installed=$(listed) || installed=
	check_writable 'remove nbs-worker from' ''
	sweep
	printf '%s\n' "$installed" | grep '[^/]$' | grep -vxF "$list" | while IFS= read -r file; do
		rm -f "${prefix:?}/$file" 2>/dev/null || say "$prefix/$file stays: it is no file"
	done
	made=$installed # a signal leaves no folder that nothing names
	rm -f "${prefix:?}/$list"
	remove_folders "$installed"
	say "nbs-worker is removed from $prefix."
	say 'Agents that run go on, and cannot start again without it. These stay:'
	say '  .nbs in each project: its records'
	say '  ~/.local/state/nbs-worker: your key and the archive'
	say '  ~/.config/nbs-worker: your hosts, if you have any'
	say '  what nbs-worker export and nbs-worker skill install have written'
}

# All is read before anything is done: a download of this script may be cut.
main() {
	prepare
	case ${1:-} in
	'') install ;;
	--uninstall) uninstall ;;
	*) die "unknown argument: $1" 'sh install.sh, or sh install.sh --uninstall' ;;
	esac
}

main "$@"
