"""Drives a daemon with the client that `engram client python` writes out.

python_client.py DIRECTORY SOCKET FRAME: the directory holds engram.py; FRAME is a JPEG. Prints what came as JSON;
a check that fails ends it with a traceback.
"""

import json
import sys
import threading
import time
from datetime import datetime, UTC

sys.path.insert(0, sys.argv[1])
import engram as client  # noqa: E402
import numpy  # noqa: E402

SOCKET, FRAME = sys.argv[2:4]


def refusal(call):
    """The words of a call that must be refused."""
    try:
        call()
    except (client.EngramError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("the call was not refused")


def pixels(seed):
    """A picture that a gate tells from others, rows of it padded."""
    rows, columns = numpy.mgrid[0:120, 0:170]
    picture = numpy.stack([(rows * seed) % 256, (columns * 3) % 256, (rows + columns * seed) % 256], axis=2)
    return picture.astype(numpy.uint8)[:, :160]


def wait_until(is_so):
    for _ in range(1200):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("waited in vain")


seen = {}
with client.Engram(SOCKET, session="python") as memory:
    # Times as numbers, datetimes and text; poses as three numbers, four and a Pose.
    start = datetime(2026, 1, 5, 9, 0, 0, tzinfo=UTC)
    caption = "a red mug on the kitchen table"
    seen["caption"] = memory.observe(
        caption=caption, confidence=0.9, pose=(1.0, 2.0, 0.5), time=start, source="eyes", map_id="home"
    )
    with open(FRAME, "rb") as file:
        seen["file"] = memory.observe(file.read(), client.Pose(3.0, 4.0), "2026-01-05T10:00:00Z", source="file")
    views = [pixels(2), pixels(3)[:, :, 0], numpy.dstack([pixels(5), pixels(7)[:, :, 0]])]
    views.append(pixels(11)[:, :, 1].astype(numpy.uint16) << 8)
    views.append(pixels(13)[:, :, ::-1])
    encodings = [None, None, None, None, "bgr8"]
    seen["arrays"] = [
        memory.observe(view, (n, 0, 0, 1), start.timestamp() + 7200 + n, source="array", encoding=encoding)
        for n, (view, encoding) in enumerate(zip(views, encodings))
    ]
    # A frame between two poses.
    for seconds, x in [(0, 10.0), (1, 12.0)]:
        memory.observe_pose((x, 0.0, 0.0), start.timestamp() + 10800 + seconds, frame_id="odom")
    seen["tracked"] = memory.observe(pixels(17), time=start.timestamp() + 10800.25, source="tracked", lost=3)
    wait_until(lambda: memory.call("ingest_status")["pending"] == 0)
    seen["status"] = memory.call("ingest_status")
    seen["kept"] = memory.recall_best_match("a picture", k=50)["records"]

    window = {"start": start, "end": datetime(2026, 1, 5, 9, 30, tzinfo=UTC)}
    seen["recalls"] = [
        recall("red mug", **window) for recall in (memory.recall_best_match, memory.recall_last_seen, memory.recall_all)
    ]
    seen["nowhere"] = memory.recall_last_seen("red mug", start="2026-02-01T00:00:00Z", k=3)

    events, ready = [], threading.Event()

    def follow():
        for event in client.Engram(SOCKET).watch(after=0):
            events.append(event)
            ready.set()
            return

    watcher = threading.Thread(target=follow, daemon=True)
    watcher.start()
    seen["answer"] = memory.ask("bring me the red mug", now="2026-01-05T18:00:00Z")
    assert ready.wait(60), "no goal was told"
    seen["event"] = events[0]

    seen["refused"] = {
        "tool": refusal(lambda: memory.recall_best_match("", k=0)),
        "unknown": refusal(lambda: memory.call("recall_everything")),
        "pose": refusal(lambda: memory.observe(caption="x", pose=(1.0, 2.0))),
        "pixels": refusal(lambda: memory.observe(numpy.zeros((4, 4, 3)))),
        "file": refusal(lambda: memory.observe(b"GIF89a")),
        "nan": refusal(lambda: memory.observe(caption="x", pose=(float("nan"), 0, 0))),
    }
    # The connection lives on after each of them.
    seen["health"] = memory.call("health")["status"]
    # Calls of many threads do not mix.
    replies = []
    threads = [
        threading.Thread(target=lambda n=n: replies.append((n, memory.recall_all("mug", k=1 + n)["session"])))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(replies) == [(n, "python") for n in range(8)], replies
    memory.close()
    seen["reconnected"] = memory.recall_last_seen("red mug")["session"]

seen["gone"] = refusal(lambda: client.Engram(SOCKET + ".absent").call("health"))
print(json.dumps(seen))
