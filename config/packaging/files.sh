#!/bin/sh
# Lays out what is installed under a directory, as packages and the tarball have it:
#   files.sh PROGRAM DIRECTORY [PREFIX]
# with the program that was built, and `usr` or `usr/local` as the prefix.
set -eu
program=$1 into=$2 prefix=${3:-usr}
sources=$(cd "$(dirname "$0")/../.." && pwd)

place() { # MODE FILE DIRECTORY
    install -D -m "$1" "$2" "$into/$3/$(basename "$2")"
}

install -D -m 755 "$program" "$into/$prefix/bin/engram"
for model in "$sources"/models/*/; do
    name=$(basename "$model")
    # What is read to use a model, not what it was trained and is tested with.
    (cd "$model" && find . -type f -not -path './training/*' -not -path './convert/*' \
        -not -path './evaluation/*' -not -name 'golden.jsonl' -not -name 'probe_pairs.jsonl' \
        -not -name '.gitignore' -not -name 'reliability.png' -print) | while read -r file; do
        place 644 "$model$file" "$prefix/share/engram/models/$name/$(dirname "$file")"
    done
done
for prompt in "$sources"/config/prompts/*; do
    place 644 "$prompt" "$prefix/share/engram/prompts"
done
for text in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT config/default.toml config/robot.toml; do
    place 644 "$sources/$text" "$prefix/share/doc/engram"
done
place 644 "$sources/config/packaging/engram.toml" etc/engram
install -d -m 755 "$into/etc/engram/cameras"
for unit in "$sources"/config/systemd/*.service "$sources"/config/systemd/*.socket "$sources"/config/systemd/*.timer; do
    place 644 "$unit" "$prefix/lib/systemd/system"
done
install -D -m 644 "$sources/config/systemd/engram.sysusers.conf" "$into/$prefix/lib/sysusers.d/engram.conf"

# Pages and completions are made by the program itself.
pages="$into/$prefix/share/man/man1"
mkdir -p "$pages" "$into/$prefix/share/bash-completion/completions" \
    "$into/$prefix/share/zsh/site-functions" "$into/$prefix/share/fish/vendor_completions.d"
"${RUN:-$program}" manual "$pages"
"${RUN:-$program}" completions bash >"$into/$prefix/share/bash-completion/completions/engram"
"${RUN:-$program}" completions zsh >"$into/$prefix/share/zsh/site-functions/_engram"
"${RUN:-$program}" completions fish >"$into/$prefix/share/fish/vendor_completions.d/engram.fish"
