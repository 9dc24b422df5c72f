"""A daemon of its own in a temporary directory, asked over its socket."""

import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

START_SECONDS_MAX = 120


class Daemon:
    def __init__(self, program):
        self.dir = tempfile.TemporaryDirectory()
        path = f"{self.dir.name}/socket"
        env = {"ENGRAM_STORE_STATE_DIR": f"{self.dir.name}/state", "ENGRAM_SOCKET_PATH": path}
        self.process = subprocess.Popen([program, "serve"], env=os.environ | env)
        late = time.monotonic() + START_SECONDS_MAX
        while not Path(path).exists():
            if self.process.poll() is not None or time.monotonic() > late:
                raise RuntimeError(f"{program} serve does not listen")
            time.sleep(0.1)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        self.stream = connection.makefile("rw")

    def call(self, name, **arguments):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": name, "arguments": arguments, "_meta": meta}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.stream.write(json.dumps(request) + "\n")
        self.stream.flush()
        result = json.loads(self.stream.readline())["result"]
        if result.get("isError"):
            raise RuntimeError(f"{name} {arguments}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.dir.cleanup()
