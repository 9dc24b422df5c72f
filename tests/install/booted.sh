#!/bin/bash
# The Debian package under a running systemd: a clean Debian is made (debootstrap), booted in namespaces of its own, and
# the package installed, used, upgraded, downgraded, removed and purged in it.
#
#   tests/install/booted.sh ROOT PACKAGE NEWER_PACKAGE
#
# As root; ROOT is a directory that is made where it is not there (with 350 MB of packages: kept for the next run). The
# packages are those of config/packaging/package.sh, the second with a higher version in Cargo.toml. Not part of CI, which has
# no optimised build. Ends with 0 where each line says "ok".
set -u
root=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
group=/sys/fs/cgroup/unified
[ -d "$group" ] || group=/sys/fs/cgroup
group=$group/engram-booted-$$

if [ ! -x "$root/lib/systemd/systemd" ]; then
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,libgcc-s1,gstreamer1.0-tools,gstreamer1.0-plugins-base,gstreamer1.0-plugins-good \
        bookworm "$root" || exit 1
fi
cp "$2" "$work/older.deb"
cp "$3" "$work/newer.deb"
cp "$here/inside.sh" "$work/"

boot() {
    mount --make-rprivate /
    mount --bind "$root" "$root"
    cd "$root" || exit 1
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs tmpfs run
    mount -t tmpfs tmpfs tmp
    mount -t tmpfs -o mode=755 tmpfs dev
    for device in null zero full random urandom tty; do
        touch "dev/$device"
        mount --bind "/dev/$device" "dev/$device"
    done
    mkdir -p dev/pts dev/shm old
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    mount -t tmpfs tmpfs dev/shm
    mount --bind "$work" mnt
    pivot_root . old
    umount -l /old
    exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=false
}
export root work
export -f boot

# A cgroup of its own, which systemd takes for the whole tree.
mkdir "$group"
(echo $BASHPID >"$group/cgroup.procs" && exec unshare --pid --mount --net --uts --ipc --cgroup --fork bash -c boot) &
machine=$!
# What was not ended with it is systemd's, by its namespace of processes.
trap 'kill -KILL "$init" 2>/dev/null; wait "$machine"; find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; rm -rf "$work"' EXIT
init=""
for _ in $(seq 100); do
    sleep 0.2
    init=$(cat "/proc/$machine/task/$machine/children" 2>/dev/null)
    init=${init%% *}
    [ -n "$init" ] && [ -S "/proc/$init/root/run/systemd/private" ] && break
done
inside() {
    nsenter -t "$init" --pid --mount --net --uts --ipc --cgroup -- \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside timeout 600 bash /mnt/inside.sh
