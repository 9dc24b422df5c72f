#!/bin/sh
# A tarball and a Debian package of a program that was built:
#   package.sh PROGRAM [ARCHITECTURE] [DIRECTORY]
# ARCHITECTURE is Debian's word (amd64, arm64), GLIBC the oldest that the program runs with. For a program that does not run here, RUN names
# one of this machine that writes the pages and completions.
set -eu
umask 022
program=$1 architecture=${2:-amd64} out=${3:-target/packages}
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$sources/Cargo.toml" | head -1)
mkdir -p "$out"
out=$(cd "$out" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
sh "$here/files.sh" "$program" "$root"
find "$root" -type d -exec chmod 755 {} +

# The same bytes from the same files.
stamp=$(git -C "$sources" log -1 --format=%ct 2>/dev/null || echo 0)
tar --create --gzip --file "$out/engram-$version-$architecture.tar.gz" --directory "$root" \
    --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$stamp" usr etc

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: engram
Version: $version
Architecture: $architecture
Maintainer: the authors of engram <engram@localhost>
Section: science
Priority: optional
Depends: libc6 (>= ${GLIBC:-2.35}), libgcc-s1
Recommends: systemd
Installed-Size: $(du -sk "$root" | cut -f1)
Description: a robot's memory as one offline process
 Frames come in and are captioned and remembered with time and place; agents ask
 over a Unix socket by MCP. Nothing touches a network.
CONTROL
echo /etc/engram/engram.toml >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 "$here/debian/$script" "$root/DEBIAN/$script"
done
SOURCE_DATE_EPOCH=$stamp dpkg-deb -Zgzip -z6 --root-owner-group --build "$root" \
    "$out/engram_${version}_$architecture.deb" >/dev/null
ls -l "$out"
