# What booted.sh asks of the booted Debian; /mnt has the packages. Says each thing that it looks at.
failed=0
check() { # WHAT COMMAND…
    local what=$1 said
    shift
    if said=$("$@" 2>&1); then
        echo "ok      $what"
    else
        echo "FAILED  $what: $said"
        failed=1
    fi
}
is() { [ "$1" = "$2" ] || { echo "it is $1, not $2"; return 1; }; }
has() { [[ $1 == *"$2"* ]] || { echo "it says $1"; return 1; }; }
gone() { for path; do [ ! -e "$path" ] || { echo "there is $path"; return 1; }; done; }
owner() { stat -c '%U %G %a' "$1"; }
shows() { systemctl show -p "$2" --value "$1"; }
as_anna() { runuser -u anna -- "$@" --socket /run/engram/engram.sock; }
keys() { as_anna engram call recall_last_seen '{"query": "keys"}' --text; }
within() { # SECONDS COMMAND…
    local seconds=$1
    shift
    for _ in $(seq "$seconds"); do "$@" >/dev/null 2>&1 && return; sleep 1; done
    "$@"
}
install_package() { apt-get install -y --allow-downgrades "$1" >/tmp/apt 2>&1 || { cat /tmp/apt; return 1; }; }
another_process() { local now; now=$(shows engram MainPID); [ "$now" != 0 ] && [ "$now" != "$1" ]; }
seen_by() { as_anna engram call ingest_status '{}' | grep -q "\"source\": *\"$1\""; }

systemctl is-system-running --wait >/dev/null
useradd -m anna 2>/dev/null
check "it is installed" install_package /mnt/older.deb
usermod -aG robots anna
check "the units are whole" systemd-analyze verify engram.service engram.socket engram-backup.service engram-backup.timer engram-camera@front.service
check "nothing runs that nobody enabled" is "$(systemctl is-enabled engram.service engram.socket | sort -u)" disabled
check "service and socket start" systemctl enable --now engram.socket engram.service engram-backup.timer
if [ $failed != 0 ]; then
    journalctl --no-pager --output cat --lines 30 --unit engram.service --unit engram.socket
    exit 1
fi
check "it is ready when it says so" is "$(shows engram.service SubState) $(shows engram.service NRestarts)" "running 0"
check "it is a user of its own" is "$(shows engram.service User) $(stat -c %U "/proc/$(shows engram MainPID)")" "engram engram"
check "it has no capability" grep -q '^CapBnd:.*0000000000000000$' "/proc/$(shows engram MainPID)/status"
check "the state is that user's alone" is "$(owner /var/lib/engram)" "engram engram 700"
check "the socket is the group's" is "$(owner /run/engram/engram.sock)" "engram robots 660"
check "one of the group observes" as_anna engram call observe '{"caption": "keys on the desk", "time": "2026-01-02 10:00:00"}' --text
check "and asks" has "$(keys)" "keys on the desk"
useradd -m other 2>/dev/null
check "others are kept out" has "$(runuser -u other -- engram status --socket /run/engram/engram.sock 2>&1)" "Permission denied"
check "a backup is made" systemctl start engram-backup.service
check "and is that user's alone" is "$(owner /var/lib/engram-backup)" "engram engram 700"

systemctl stop engram.service 2>/dev/null
check "a client starts it by the socket" has "$(keys)" "keys on the desk"
check "then the socket is still the group's" is "$(owner /run/engram/engram.sock)" "engram robots 660"

mkdir -p /etc/engram/cameras
cat >/etc/engram/cameras/front <<'CAMERA'
COMMAND=gst-launch-1.0 -q videotestsrc is-live=true pattern=smpte ! video/x-raw,width=640,height=480,framerate=10/1 ! jpegenc ! multipartmux ! fdsink
FLAGS=--position 1,2,0.5 --theta 0
CAMERA
check "a camera starts" systemctl enable --now engram-camera@front
check "and its frames come" within 30 seen_by front
check "the camera is a user of its own" is "$(stat -c %U "/proc/$(shows engram-camera@front MainPID)")" engram-camera

before=$(shows engram MainPID)
kill -KILL "$before"
check "killed, it starts anew" within 20 another_process "$before"
check "and knows what it knew" has "$(keys)" "keys on the desk"
before=$(shows engram MainPID)
kill -STOP "$before"
check "hung, it is ended and starts anew" within 150 another_process "$before"
check "and knows what it knew" has "$(keys)" "keys on the desk"

before=$(shows engram MainPID)
camera=$(shows engram-camera@front MainPID)
check "it is upgraded" install_package /mnt/newer.deb
check "another process runs" another_process "$before"
check "and another camera's" [ "$(shows engram-camera@front MainPID)" != "$camera" ]
check "which knows what it knew" has "$(keys)" "keys on the desk"
check "it is downgraded" install_package /mnt/older.deb
check "and knows what it knew" has "$(keys)" "keys on the desk"

check "it is removed" apt-get remove -y engram
check "nothing of it runs" is "$(pgrep -cx engram)" 0
check "no unit is enabled" is "$(find /etc/systemd/system -name 'engram*')" ""
check "the memory stays" [ -d /var/lib/engram/db ]
check "it is installed again" install_package /mnt/older.deb
check "it starts without the unit of the socket" systemctl start engram.service
check "whose socket is the group's, too" is "$(owner /run/engram/engram.sock)" "engram robots 660"
check "it knows what it knew" has "$(keys)" "keys on the desk"
check "it is purged" apt-get purge -y engram
check "then nothing stays" gone /var/lib/engram /var/lib/engram-backup /etc/engram
userdel -r anna 2>/dev/null
userdel -r other 2>/dev/null
[ $failed = 0 ] || journalctl --no-pager --output cat --lines 40 --unit "engram*"
exit $failed
