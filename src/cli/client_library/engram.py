"""Client of engram, a robot's memory: one file, to be kept beside your own code.

Written out by `engram client python`, so that it fits the daemon it came with.

    from engram import Engram

    with Engram() as memory:
        memory.observe(frame, pose=(1.2, -0.4, 0.0, 1.57), source="front")  # numpy, HxWx3, RGB
        for record in memory.recall_last_seen("red mug")["records"]:
            print(record["time"], record["position"], record["caption"])
        for goal in memory.ask("bring me the mug I use the most")["goals"]:
            drive_to(goal["position"], goal["theta"])

Needs Python 3.10 and nothing else; numpy only where you hand in an array. Calls may come from several threads: one
connection carries one call at a time, so threads that must not wait for each other have an `Engram` each.
"""

from __future__ import annotations

import base64
import json
import math
import os
import socket as sockets
import threading
import time as clock
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal, TypeAlias

    import numpy

    # Seconds since 1970; a datetime (without a zone it is this machine's local time); or what the tools read, such as
    # "2025-01-03 09:14:07", "2025-01-03T09:14:07+01:00" or "-10m".
    Time: TypeAlias = float | datetime | str
    # x, y, theta; or x, y, z, theta; or a Pose.
    AnyPose: TypeAlias = "Pose | Sequence[float]"
    # Pixels (rows, columns[, channels]); or the bytes of a JPEG, PNG or WebP file.
    Image: TypeAlias = "numpy.ndarray[Any, Any] | bytes | bytearray | memoryview"

PROTOCOL_VERSION = "2026-07-28"
CLIENT_VERSION = "@VERSION@"


class EngramError(Exception):
    """Whatever went wrong; the message says what, and what is accepted."""


class DaemonGone(EngramError):
    """No daemon listens, or it ended. The next call connects again."""


class Refused(EngramError):
    """The daemon refused the call: an argument is wrong, or it cannot do it now. Nothing was changed."""


class Busy(Refused):
    """The frame did not fit in: too many wait for their caption. Send it again, or drop it and say so by `lost`."""


class Pose(NamedTuple):
    """Where the robot is: metres in a right-handed frame with z up, and radians from its x axis."""

    x: float
    y: float
    z: float = 0.0
    theta: float | None = None


class Observed(TypedDict):
    """What became of an observation; it is on disk, or dropped with the reason."""

    frame: int | None
    id: int | None
    state: Literal["stored", "merged", "pending", "dropped"]


class Record(TypedDict, total=False):
    """What was seen; `position` is where the robot stood, in metres."""

    id: int
    time: str
    timestamp: float
    end_time: str
    caption: str
    confidence: float
    position: list[float] | None
    theta: float | None
    frame_id: str
    map_id: str
    source: str
    layer: str
    image: str | None
    score: float
    matched: list[str]
    detections: list[dict[str, Any]]


class Recall(TypedDict, total=False):
    """Records that answer a query; `why_empty` where there is none."""

    records: list[Record]
    session: str
    index: dict[str, int]
    why_empty: str
    notice: str


class Goal(TypedDict, total=False):
    """Place where the object may be, in the order to visit."""

    position: list[float]
    theta: float | None
    frame_id: str
    map_id: str
    reason: str
    record_id: int | None
    probability: float


class Answer(TypedDict, total=False):
    """What came of a request; `goals` are where to go, `answer` is for a question."""

    status: Literal["dispatched", "unsure", "answered", "not_dispatched"]
    task: str
    target: str
    goals: list[Goal]
    answer: str
    session: str
    trace: list[dict[str, Any]]


class GoalEvent(TypedDict):
    """Search whose goals were given out, or what was reported of it."""

    number: int
    time: str
    session: str
    status: str
    target: str
    goals: list[Goal]


class Engram:
    """Connection to the daemon at `socket`: the one of the environment, of this user or of the machine where `None`.

    Calls share a session, by which one recall follows another; a name keeps it across connections. `timeout` is how
    many seconds a call waits for its answer.
    """

    def __init__(
        self, socket: str | os.PathLike[str] | None = None, *, session: str | None = None, timeout: float = 65.0
    ) -> None:
        self.socket = os.fspath(socket) if socket is not None else default_socket()
        self.session = session
        self.timeout = timeout
        self._lock = threading.Lock()
        self._stream: sockets.socket | None = None
        self._unread = bytearray()
        self._last_id = 0

    def __enter__(self) -> Engram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and with it a session without a name. The next call makes another."""
        with self._lock:
            self._disconnect()

    # Into the memory.

    def observe(
        self,
        image: Image | None = None,
        pose: AnyPose | None = None,
        time: Time | None = None,
        *,
        source: str | None = None,
        encoding: str | None = None,
        caption: str | None = None,
        confidence: float | None = None,
        frame_id: str | None = None,
        map_id: str | None = None,
        layer: str | None = None,
        lost: int = 0,
    ) -> Observed:
        """Puts a frame, a ready caption, or both into memory. When it returns, it is on disk or dropped.

        An array is (rows, columns) or (rows, columns, channels) of uint8 (mono8, rgb8, rgba8; name another layout by
        `encoding`, "bgr8" for OpenCV's) or (rows, columns) of uint16 (mono16). `time` is when it was taken, now where
        absent; frames of a `source` come in the order of their times. Without a pose the daemon takes what
        `observe_pose` said of that time. `lost` tells of frames that you had to drop since the last call.
        """
        arguments: dict[str, Any] = {} if image is None else image_arguments(image, encoding)
        arguments.update(pose_arguments(pose), **place_arguments(time, frame_id, map_id, source))
        if lost > 0:
            arguments["lost"] = lost
        reply = self.call("observe", caption=caption, confidence=confidence, layer=layer, **arguments)
        return reply  # type: ignore[return-value]

    def observe_pose(
        self,
        pose: AnyPose,
        time: Time | None = None,
        *,
        frame_id: str | None = None,
        map_id: str | None = None,
        source: str | None = None,
    ) -> None:
        """Says where the robot is (or its camera `source`), for the frames that come without a pose."""
        arguments = pose_arguments(pose)
        arguments.update(place_arguments(time, frame_id, map_id, source))
        self.call("observe_pose", **arguments)

    # Out of the memory.

    def ask(self, task: str, *, now: Time | None = None, planner: Literal["rules", "model"] | None = None) -> Answer:
        """Carries out a request in words ("bring me the mug I use the most") or answers a question."""
        return self.call("retrieve_object", task=task, now=time_argument(now), planner=planner)  # type: ignore[return-value]

    def recall_best_match(
        self, query: str, *, start: Time | None = None, end: Time | None = None, k: int | None = None, **more: Any
    ) -> Recall:
        """The records that best match a vague description. `more` are further arguments of the tool."""
        return self._recall("recall_best_match", query, start, end, k, more)

    def recall_last_seen(
        self, query: str, *, start: Time | None = None, end: Time | None = None, k: int | None = None, **more: Any
    ) -> Recall:
        """The newest records that really show the object, newest first."""
        return self._recall("recall_last_seen", query, start, end, k, more)

    def recall_all(
        self, query: str, *, start: Time | None = None, end: Time | None = None, k: int | None = None, **more: Any
    ) -> Recall:
        """Every record that shows the object, in the order of time."""
        return self._recall("recall_all", query, start, end, k, more)

    def watch(self, after: int | None = None) -> Iterator[GoalEvent]:
        """Follows the goals that the robot is sent to: those from now on, or after the event of this number.

        Ends with `DaemonGone` when the daemon does; a wait may take `timeout` to notice it.
        """
        events = Engram(self.socket, session=self.session, timeout=self.timeout)
        with events:
            following = after if after is not None else events.call("watch_goals")["next"]
            while True:
                asked = clock.monotonic()
                reply = events.call("watch_goals", after=following, wait_seconds=20)
                yield from reply["events"]
                following = reply["next"]
                # As many wait as may: this one asks again after a while.
                if not reply["events"] and clock.monotonic() - asked < 1.0:
                    clock.sleep(1.0)

    # All else.

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls any tool (`engram tools` lists them); arguments that are `None` are left out."""
        arguments = {name: value for name, value in arguments.items() if value is not None}
        if self.session is not None:
            arguments.setdefault("session", self.session)
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            blocks = [block.get("text", "") for block in result.get("content", []) if block.get("type") == "text"]
            text = "\n".join(blocks)
            raise (Busy if "send it again when" in text else Refused)(text)
        structured: dict[str, Any] = result.get("structuredContent", {})
        return structured

    def _recall(
        self, tool: str, query: str, start: Time | None, end: Time | None, k: int | None, more: dict[str, Any]
    ) -> Recall:
        window = {"search_start_time": time_argument(start), "search_end_time": time_argument(end)}
        return self.call(tool, query=query, k=k, **window, **more)  # type: ignore[return-value]

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "engram.py", "version": CLIENT_VERSION},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        with self._lock:
            self._last_id += 1
            message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": {**params, "_meta": meta}}
            line = json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"
            try:
                return self._exchange(line, self._last_id)
            except Refused:
                raise
            except BaseException:
                # Whatever is half said: the next call begins anew.
                self._disconnect()
                raise

    def _exchange(self, line: bytes, request_id: int) -> dict[str, Any]:
        deadline = clock.monotonic() + self.timeout
        try:
            stream = self._connect()
            stream.settimeout(self.timeout)
            stream.sendall(line)
            while True:
                reply = json.loads(self._read_line(stream, deadline))
                # An error without an id is about this request too: there is no other.
                if reply.get("id") not in (None, request_id):
                    continue
                if "error" in reply:
                    error = reply["error"]
                    raise Refused(f"{error.get('message')} (code {error.get('code')})")
                if "result" in reply:
                    result: dict[str, Any] = reply["result"]
                    return result
        except TimeoutError as late:
            raise EngramError(f"the daemon did not answer within {self.timeout} s") from late
        except OSError as gone:
            raise DaemonGone(f"no daemon at {self.socket}: {gone}; start one with `engram serve`") from gone
        except ValueError as strange:
            raise EngramError(f"the daemon's answer is not understood: {strange}") from strange

    def _connect(self) -> sockets.socket:
        if self._stream is None:
            stream = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
            try:
                stream.settimeout(self.timeout)
                stream.connect(self.socket)
            except BaseException:
                stream.close()
                raise
            self._stream = stream
        return self._stream

    def _disconnect(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None
        self._unread.clear()

    def _read_line(self, stream: sockets.socket, deadline: float) -> bytes:
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            left = deadline - clock.monotonic()
            if left <= 0:
                raise TimeoutError
            stream.settimeout(left)
            read = stream.recv(1 << 20)
            if not read:
                raise ConnectionError("it closed the connection before it answered")
            self._unread += read
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line


def default_socket() -> str:
    """Where the daemon listens: `ENGRAM_SOCKET_PATH`, this user's, or the packaged service's."""
    named = os.environ.get("ENGRAM_SOCKET_PATH")
    if named:
        return named
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    own = os.path.join(runtime, "engram.sock") if runtime else os.path.join(state, "engram", "engram.sock")
    packaged = "/run/engram/engram.sock"
    return packaged if not os.path.exists(own) and os.path.exists(packaged) else own


def time_argument(time: Time | None) -> str | float | None:
    """As the tools read it."""
    if isinstance(time, datetime):
        return time.astimezone().isoformat()
    return time


def place_arguments(time: Time | None, frame_id: str | None, map_id: str | None, source: str | None) -> dict[str, Any]:
    return {"time": time_argument(time), "frame_id": frame_id, "map_id": map_id, "source": source}


def pose_arguments(pose: AnyPose | None) -> dict[str, Any]:
    """Position and heading of a pose of three (x, y, theta) or four (x, y, z, theta) numbers."""
    if pose is None:
        return {}
    if isinstance(pose, Pose):
        x, y, z, theta = pose
    else:
        numbers = [float(number) for number in pose]
        if len(numbers) == 3:
            x, y, theta = numbers
            z = 0.0
        elif len(numbers) == 4:
            x, y, z, theta = numbers
        else:
            accepted = "(x, y, theta), (x, y, z, theta) or a Pose"
            raise ValueError(f"pose has {len(numbers)} numbers, accepted are {accepted}")
    arguments: dict[str, Any] = {"position": [float(x), float(y), float(z)]}
    if theta is not None:
        arguments["theta"] = float(theta)
    if not all(math.isfinite(number) for number in [x, y, z, theta or 0.0]):
        raise ValueError(f"pose is {pose}, accepted are finite metres and radians")
    return arguments


def image_arguments(image: Image, encoding: str | None) -> dict[str, Any]:
    """An encoded file as it is, pixels with their layout."""
    if isinstance(image, (bytes, bytearray, memoryview)):
        if encoding is not None:
            raise ValueError("encoding is of an array's pixels; the bytes of a JPEG, PNG or WebP say it themselves")
        return {"image": base64.b64encode(image).decode()}
    import numpy

    pixels = numpy.asarray(image)
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    known = {("uint8", 1): "mono8", ("uint8", 3): "rgb8", ("uint8", 4): "rgba8", ("uint16", 1): "mono16"}
    layout = encoding or known.get((pixels.dtype.name, channels))
    if pixels.ndim not in (2, 3) or layout is None or 0 in pixels.shape:
        found = f"{pixels.dtype.name} of shape {pixels.shape}"
        accepted = "uint8 of (rows, columns), (rows, columns, 3) or (rows, columns, 4), uint16 of (rows, columns)"
        raise ValueError(f"image is {found}, accepted is {accepted}, or any with its `encoding`")
    # Rows without padding, in the byte order of nearly every machine.
    pixels = numpy.ascontiguousarray(pixels, dtype=pixels.dtype.newbyteorder("<"))
    return {
        "image": base64.b64encode(pixels.data).decode(),
        "encoding": layout,
        "width": int(pixels.shape[1]),
        "height": int(pixels.shape[0]),
        "step": int(pixels.strides[0]),
    }
