#!/usr/bin/env python3
"""Runs a daemon for half an hour under everything at once, then audits it.

Cameras, ready captions, recalls, notes, states, forgetting, retention, kills of the captioner's
worker, backups, and one kill of the daemon itself in the middle. In the end every note, state and
record is compared with what was acknowledged, and memory, file descriptors, threads and disk must
have stopped growing. Only Python's standard library; needs Linux's /proc.

    benches/soak/soak.py --engram target/release/engram --minutes 30 --seed 7
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRAMES = ROOT / "models/household-captioner/flat/frames"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
RECORDS_MAX = 3_000
NOTES_MAX = 200
THINGS = ["mug", "bottle", "book", "lamp", "chair", "box", "plant", "phone", "bowl", "towel"]
PLACES = ["desk", "shelf", "table", "floor", "bed", "counter", "sofa", "stool"]
COLOURS = ["red", "blue", "green", "white", "black", "yellow"]
# Growth over the last two thirds of the run that counts as none: caches fill, logs rotate.
RESIDENT_GROWTH_MAX_MIB = 12.0
DISK_GROWTH_MAX_MIB = 24.0
DESCRIPTORS_GROWTH_MAX = 4.0


class Refused(Exception):
    """The daemon answered with an error."""


class Client:
    """One connection; another is made when it breaks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = None
        self.number = 0

    def call(self, tool: str, **arguments: object) -> dict:
        if self.lines is None:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(90)
            self.socket.connect(str(self.path))
            self.lines = self.socket.makefile("r")
        self.number += 1
        params = {"name": tool, "arguments": arguments, "_meta": META}
        request = {"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params}
        try:
            self.socket.sendall((json.dumps(request) + "\n").encode())
            line = self.lines.readline()
        except OSError:
            line = ""
        if not line.endswith("\n"):
            self.close()
            raise ConnectionError("the daemon closed the connection")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"]["message"])
        if reply["result"].get("isError"):
            raise Refused(reply["result"]["content"][0]["text"])
        return reply["result"].get("structuredContent") or {}

    def close(self) -> None:
        if self.lines is not None:
            self.socket.close()
            self.lines = None


@dataclass
class Ledger:
    """What was acknowledged, and what was asked without an answer."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    records: dict[int, str] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    doubtful_records: set[int] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    deleted_notes: dict[str, str] = field(default_factory=dict)
    doubtful_notes: set[str] = field(default_factory=set)
    states: dict[str, object] = field(default_factory=dict)
    doubtful_states: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    recall_seconds: list[float] = field(default_factory=list)

    def count(self, what: str, by: int = 1) -> None:
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + by

    def refuse(self, what: str, why: object) -> None:
        with self.lock:
            key = f"{what}: {str(why)[:100]}"
            self.refusals[key] = self.refusals.get(key, 0) + 1


@dataclass
class Sample:
    at: float
    resident_mib: float
    worker_mib: float
    descriptors: int
    threads: int
    disk_mib: float


class Soak:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.dir = Path(tempfile.mkdtemp(prefix="engram-soak-", dir=options.dir))
        self.state, self.socket = self.dir / "state", self.dir / "socket"
        self.ledger, self.stop = Ledger(), threading.Event()
        self.samples: list[Sample] = []
        self.daemon: subprocess.Popen | None = None
        self.can_back_up = "backup" in self.run_command("--help").stdout
        self.images = [base64.b64encode(it.read_bytes()).decode() for it in sorted(FRAMES.glob("*.jpg"))[:40]]

    def run_command(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.options.engram, *arguments], capture_output=True, text=True)

    def start(self) -> None:
        settings = [
            f"memory.records_max={RECORDS_MAX}",
            "store.images_max_mb=8",
            "audit.max_mb=1",
            "captioner.model=household-captioner",
            "ingest.gate.max_pause_seconds=0",
        ]
        command = [self.options.engram, "serve", "--state-dir", str(self.state), "--socket", str(self.socket)]
        for setting in settings:
            command += ["--set", setting]
        log = (self.dir / "log").open("ab")
        self.daemon = subprocess.Popen(command, stdout=log, stderr=log)
        client = Client(self.socket)
        for _ in range(600):
            try:
                client.call("health")
                return client.close()
            except (OSError, Refused):
                time.sleep(0.1)
            if self.daemon.poll() is not None:
                break
        sys.exit(f"the daemon did not start; its log is {self.dir / 'log'}")

    def worker(self) -> int | None:
        children = Path(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children")
        found = children.read_text().split() if children.exists() else []
        for task in Path(f"/proc/{self.daemon.pid}/task").glob("*/children"):
            found += task.read_text().split()
        return int(found[0]) if found else None

    # What is done to it, each in a thread of its own.

    def loop(self, seed: int, pause: float, act) -> None:
        client, chance = Client(self.socket), random.Random(self.options.seed * 100 + seed)
        while not self.stop.wait(pause * chance.uniform(0.5, 1.5)):
            try:
                act(client, chance)
            except ConnectionError:
                self.ledger.count("calls cut by a kill")
                time.sleep(0.5)
            except (FileNotFoundError, ConnectionRefusedError, TimeoutError):
                time.sleep(0.5)
            except Refused as refusal:
                self.ledger.refuse(act.__name__, refusal)

    def observe_captions(self, client: Client, chance: random.Random) -> None:
        self.ledger.count("captions")
        number = self.ledger.counts["captions"]
        caption = f"a {chance.choice(COLOURS)} {chance.choice(THINGS)} numbered {number} on a {chance.choice(PLACES)}"
        position = [chance.uniform(0, 20), chance.uniform(0, 20)]
        source = threading.current_thread().name
        reply = client.call("observe", caption=caption, source=source, position=position, theta=0.0, time=time.time())
        with self.ledger.lock:
            self.ledger.records[reply["id"]] = caption

    def observe_images(self, client: Client, chance: random.Random) -> None:
        arguments = {"image": chance.choice(self.images), "source": "camera", "time": time.time()}
        client.call("observe", position=[chance.uniform(0, 20), 1.0], theta=0.0, **arguments)
        self.ledger.count("images")

    def recall(self, client: Client, chance: random.Random) -> None:
        began = time.monotonic()
        tool = chance.choice(["recall_best_match", "recall_last_seen", "recall_all"])
        client.call(tool, query=f"the {chance.choice(COLOURS)} {chance.choice(THINGS)}")
        self.ledger.recall_seconds.append(time.monotonic() - began)
        self.ledger.count("recalls")

    def keep_notes(self, client: Client, chance: random.Random) -> None:
        ledger = self.ledger
        with ledger.lock:
            known = [it for it in ledger.notes if it not in ledger.doubtful_notes]
        if len(known) > NOTES_MAX or (known and chance.random() < 0.2):
            note = chance.choice(known)
            ledger.doubtful_notes.add(note)
            client.call("memory_delete", ids=[note])
            with ledger.lock:
                ledger.doubtful_notes.discard(note)
                ledger.deleted_notes[note] = ledger.notes.pop(note)
            ledger.count("notes deleted")
            return
        ledger.count("notes")
        text = f"note {ledger.counts['notes']}: the {chance.choice(THINGS)} belongs on the {chance.choice(PLACES)}"
        note = client.call("memory_save", text=text, metadata={"n": ledger.counts["notes"]})["id"]
        with ledger.lock:
            ledger.notes[note] = text

    def keep_states(self, client: Client, chance: random.Random) -> None:
        agent = f"agent {chance.randrange(20)}"
        memory = {"step": chance.randrange(10**6), "plan": [chance.choice(THINGS) for _ in range(5)]}
        self.ledger.doubtful_states.add(agent)
        client.call("state_set", agent=agent, memory=memory)
        with self.ledger.lock:
            self.ledger.states[agent] = memory
            self.ledger.doubtful_states.discard(agent)
        self.ledger.count("states")

    def forget(self, client: Client, chance: random.Random) -> None:
        ledger = self.ledger
        with ledger.lock:
            newest = sorted(ledger.records.keys() - ledger.forgotten)[-1000:]
        if len(newest) < 10:
            return
        ids = chance.sample(newest, 2)
        ledger.doubtful_records.update(ids)
        client.call("memory_forget", scope="episodic", ids=[str(it) for it in ids], dry_run=False)
        with ledger.lock:
            ledger.forgotten.update(ids)
            ledger.doubtful_records.difference_update(ids)
        ledger.count("records forgotten", 2)

    def kill_worker(self, _client: Client, _chance: random.Random) -> None:
        worker = self.worker()
        if worker is not None:
            os.kill(worker, signal.SIGKILL)
            self.ledger.count("kills of the worker")

    def back_up(self, _client: Client, _chance: random.Random) -> None:
        target = self.dir / "backup"
        done = self.run_command("backup", str(target), "--socket", str(self.socket), "--state-dir", str(self.state))
        if done.returncode == 0:
            self.ledger.count("backups")
        else:
            self.ledger.refuse("back_up", done.stderr.strip().splitlines()[-1:] or "no word")

    # What is measured.

    def sample(self, began: float) -> None:
        process = Path(f"/proc/{self.daemon.pid}")
        try:
            worker = self.worker()
            self.samples.append(
                Sample(
                    at=time.monotonic() - began,
                    resident_mib=resident_mib(process),
                    worker_mib=resident_mib(Path(f"/proc/{worker}")) if worker else 0.0,
                    descriptors=len(list((process / "fd").iterdir())),
                    threads=len(list((process / "task").iterdir())),
                    disk_mib=disk_mib(self.state),
                )
            )
        except OSError:
            pass  # It was killed between two lines.

    def run(self) -> int:
        self.start()
        began = time.monotonic()
        ways = [
            (self.observe_captions, 0.05), (self.observe_captions, 0.05), (self.observe_images, 1.0),
            (self.recall, 0.05), (self.recall, 0.2), (self.keep_notes, 0.3), (self.keep_states, 0.3),
            (self.forget, 2.0), (self.kill_worker, 45.0),
        ]  # fmt: skip
        if self.can_back_up:
            ways.append((self.back_up, 90.0))
        threads = [
            threading.Thread(target=self.loop, args=(seed, pause, act), name=f"{act.__name__} {seed}")
            for seed, (act, pause) in enumerate(ways)
        ]
        for thread in threads:
            thread.start()
        seconds = self.options.minutes * 60
        was_killed = False
        while time.monotonic() - began < seconds:
            time.sleep(5)
            self.sample(began)
            if not was_killed and time.monotonic() - began > seconds / 6:
                # Early, so that most of the run is of one process.
                was_killed = True
                self.daemon.kill()
                self.daemon.wait()
                self.start()
            if self.daemon.poll() is not None:
                print(f"the daemon ended by itself; its log is {self.dir / 'log'}")
                break
        self.stop.set()
        for thread in threads:
            thread.join()
        faults = self.audit() + self.growth()
        self.report(faults)
        self.daemon.terminate()
        self.daemon.wait()
        if not faults and not self.options.keep:
            shutil.rmtree(self.dir)
        else:
            print(f"left: {self.dir}")
        return 1 if faults else 0

    def audit(self) -> list[str]:
        """Every difference between what was acknowledged and what is there."""
        ledger, client, faults = self.ledger, Client(self.socket), []
        for note, text in ledger.notes.items():
            if note in ledger.doubtful_notes:
                continue
            number = text.split(":")[0].split(" ")[1]
            found = client.call("memory_load", query=text, limit=3, filter=f"n == {number}")["memories"]
            if [(it["id"], it["text"]) for it in found] != [(note, text)]:
                faults.append(f"note {number} was acknowledged and is {found}")
        for note, text in ledger.deleted_notes.items():
            number = text.split(":")[0].split(" ")[1]
            found = client.call("memory_load", query=text, limit=3, filter=f"n == {number}")["memories"]
            if any(it["id"] == note for it in found):
                faults.append(f"note {number} was deleted and is there")
        if self.can_back_up:
            if not ledger.counts.get("backups"):
                faults.append("no backup came to its end")
            elif self.run_command("restore", str(self.dir / "backup"), "--check").returncode:
                faults.append("the last backup is not whole")
        for agent, memory in ledger.states.items():
            found = client.call("state_get", agent=agent)["memory"]
            if agent not in ledger.doubtful_states and found != memory:
                faults.append(f"the state of {agent} was {memory} and is {found}")
        held = client.call("memory_stats")["records"]
        slack = max(16, RECORDS_MAX // 64)
        if held > RECORDS_MAX + 2 * slack:
            faults.append(f"{held} records, {RECORDS_MAX} are to be kept")
        # Images become records as well, so that at most this many of ours are there; the newest
        # must all be.
        captioned = client.call("ingest_status")["captioned"]
        expected = sorted(ledger.records.keys() - ledger.forgotten - ledger.doubtful_records)
        count = max(0, RECORDS_MAX - captioned - 2 * slack)
        must = set(expected[max(0, len(expected) - count) :]) if count else set()
        present = 0
        for at in range(0, len(expected), 8):
            ids = expected[at : at + 8]
            shown = self.captions_of(client, ids)
            present += len(shown)
            for record in ids:
                if record in shown and shown[record] != ledger.records[record]:
                    faults.append(f"record {record} was {ledger.records[record]!r} and is {shown[record]!r}")
                if record not in shown and record in must:
                    faults.append(f"record {record} was acknowledged and is gone")
        forgotten = sorted(ledger.forgotten)
        for at in range(0, len(forgotten), 8):
            shown = self.captions_of(client, forgotten[at : at + 8])
            faults += [f"record {it} was forgotten and is there" for it in shown]
        ledger.counts["records held"] = held
        ledger.counts["of them checked one by one"] = present
        health = client.call("health")
        # That the worker was killed is told for five minutes, as it should be.
        own = "ended by signal 9"
        faults += [f"health: {it}" for it in health["problems"] if own not in it]
        return faults

    def captions_of(self, client: Client, ids: list[int]) -> dict[int, str]:
        try:
            reply = client.call("inspect_memory_record", record_ids=ids)
        except Refused as refusal:
            if "none of which exists" in str(refusal):
                return {}
            raise
        return {it["id"]: it["caption"] for it in reply["records"]}

    def growth(self) -> list[str]:
        """What still grew in the last two thirds, as a line of least squares."""
        late = [it for it in self.samples if it.at > self.options.minutes * 20]
        if len(late) < 12:
            return [f"{len(late)} samples are too few to tell growth; run it for longer"]
        faults = []
        for name, bound in [
            ("resident_mib", RESIDENT_GROWTH_MAX_MIB),
            ("disk_mib", DISK_GROWTH_MAX_MIB),
            ("descriptors", DESCRIPTORS_GROWTH_MAX),
            ("threads", DESCRIPTORS_GROWTH_MAX),
        ]:
            values = [float(getattr(it, name)) for it in late]
            slope = statistics.linear_regression([it.at for it in late], values).slope
            grown = slope * (late[-1].at - late[0].at)
            print(
                f"{name:13} {min(values):8.1f} to {max(values):8.1f}, "
                f"{grown:+7.1f} over the last {(late[-1].at - late[0].at) / 60:.0f} minutes"
            )
            if grown > bound:
                faults.append(f"{name} grew by {grown:.1f}, accepted is {bound}")
        return faults

    def report(self, faults: list[str]) -> None:
        recall = sorted(self.ledger.recall_seconds)
        if len(recall) > 100:
            p50, p99 = recall[len(recall) // 2] * 1000, recall[len(recall) * 99 // 100] * 1000
            print(f"recall p50 {p50:.1f} ms, p99 {p99:.1f} ms, beside all of this")
        for what, count in sorted(self.ledger.counts.items()):
            print(f"{what}: {count}")
        for why, count in self.ledger.refusals.items():
            print(f"refused {count} times, {why}")
        if not self.can_back_up:
            print("NOT RUN: backups; this engram has no such command")
        print(f"seed {self.options.seed}, {self.options.minutes} minutes: {len(faults)} faults")
        for fault in faults[:50]:
            print(f"FAULT {fault}")


def resident_mib(process: Path) -> float:
    for line in (process / "status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def disk_mib(directory: Path) -> float:
    blocks = 0
    for root, _, files in os.walk(directory):
        for name in files:
            try:
                blocks += os.lstat(os.path.join(root, name)).st_blocks
            except FileNotFoundError:
                continue
    return blocks * 512 / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engram", default=str(ROOT / "target/release/engram"), help="the program")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--dir", help="where its directory is made (default: the system's temporary one)")
    parser.add_argument("--keep", action="store_true", help="leave the state directory")
    return Soak(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
