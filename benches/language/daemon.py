"""A daemon of its own in a temporary directory, asked over its socket."""

import json
import os
import socket
import subprocess
import tempfile
import time

START_SECONDS_MAX = 120


class Daemon:
    def __init__(self, program):
        self.dir = tempfile.TemporaryDirectory()
        path = f"{self.dir.name}/socket"
        env = {"ENGRAM_STORE_STATE_DIR": f"{self.dir.name}/state", "ENGRAM_SOCKET_PATH": path}
        self.process = subprocess.Popen([program, "serve"], env=os.environ | env)
        self.stream = self.connect(path).makefile("rw")

    def connect(self, path):
        late = time.monotonic() + START_SECONDS_MAX
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(path)
                return connection
            # The socket's file is there before somebody listens.
            except (FileNotFoundError, ConnectionRefusedError) as error:
                connection.close()
                if self.process.poll() is not None or time.monotonic() > late:
                    raise RuntimeError(f"{self.process.args[0]} serve does not listen") from error
                time.sleep(0.1)

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
