"""A camera that writes JPEG files to a pipe, at a rate: camera.py DIRECTORY HERTZ [SECONDS]"""

import pathlib
import sys
import time

files = [file.read_bytes() for file in sorted(pathlib.Path(sys.argv[1]).iterdir())]
hertz, seconds = float(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else float("inf")
begun, number = time.monotonic(), 0
while number < seconds * hertz:
    time.sleep(max(0.0, begun + number / hertz - time.monotonic()))
    sys.stdout.buffer.write(files[number % len(files)])
    sys.stdout.buffer.flush()
    number += 1
