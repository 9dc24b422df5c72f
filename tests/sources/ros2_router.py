"""The Zenoh router that a robot with rmw_zenoh has: ros2_router.py ENDPOINT, until standard input ends."""

import json
import sys

import zenoh

config = zenoh.Config()
config.insert_json5("mode", '"router"')
config.insert_json5("listen/endpoints", json.dumps(sys.argv[1:]))
config.insert_json5("scouting/multicast/enabled", "false")
with zenoh.open(config):
    sys.stdin.read()
