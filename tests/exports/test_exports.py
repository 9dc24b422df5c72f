"""What `engram` writes for others, read by their own programs.

Needs the binary (ENGRAM, by default target/debug/engram); rerun-sdk where it is installed.
"""

import json
import math
import os
import shutil
import subprocess
import time
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGRAM = Path(os.environ.get("ENGRAM", ROOT / "target/debug/engram"))

pytestmark = pytest.mark.skipif(not ENGRAM.exists(), reason=f"{ENGRAM} is not built")


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A daemon that holds the flat, and a function that runs a command against it."""
    home = tmp_path_factory.mktemp("engram")
    socket = home / "s"
    common = ["--socket", str(socket)]
    flags = ["--state-dir", str(home / "state"), "--set", "captioner.model=household-captioner"]
    daemon = subprocess.Popen([ENGRAM, "serve", *common, *flags, "--set", "time.zone=UTC"], cwd=ROOT)
    try:
        for _ in range(600):
            if socket.exists():
                break
            time.sleep(0.1)

        def run(*arguments):
            command = [ENGRAM, *arguments, *common]
            return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

        run("ingest", "models/household-captioner/flat")
        yield run, home
    finally:
        daemon.terminate()
        daemon.wait()


def lines(memory):
    run, _ = memory
    items = [json.loads(line) for line in run("export", "--frames").splitlines()]
    return [item for item in items if item["kind"] == "record"]


def test_parquet_is_the_table_of_the_lines(memory):
    parquet = pytest.importorskip("pyarrow.parquet")
    run, home = memory
    run("export", "--format", "parquet", "--frames", "-o", str(home / "a.parquet"))
    rows = parquet.read_table(home / "a.parquet").to_pylist()
    records = lines(memory)
    assert len(rows) == len(records) > 100
    for row, record in zip(rows, records, strict=True):
        for key in ("id", "caption", "source", "frame_id", "map_id", "theta"):
            assert row[key] == record[key]
        assert [row["x"], row["y"], row["z"]] == record["position"]
        assert json.loads(row["parsed"]) == record["parsed"]
        assert row["time"].strftime("%Y-%m-%dT%H:%M:%SZ") == record["time"]
        assert len(row["vector"]) == 256
        assert math.isclose(sum(x * x for x in row["vector"]), 1, rel_tol=1e-5)
        assert row["frame"][:3] == b"\xff\xd8\xff"


def test_mcap_is_whole_and_says_what_the_lines_say(memory):
    reader = pytest.importorskip("mcap.reader")
    decoder = pytest.importorskip("mcap_protobuf.decoder")
    run, home = memory
    run("export", "--format", "mcap", "--frames", "-o", str(home / "a.mcap"))
    records = lines(memory)
    seen = {"image": [], "annotations": [], "pose": [], "captions": []}
    with open(home / "a.mcap", "rb") as file:
        factories = [decoder.DecoderFactory()]
        mcap = reader.make_reader(file, validate_crcs=True, decoder_factories=factories)
        assert mcap.get_summary().statistics.message_count == 4 * len(records)
        messages = mcap.iter_decoded_messages(log_time_order=False)
        for _, channel, message, decoded in messages:
            seen[channel.topic.rsplit("/", 1)[1]].append((message.log_time, decoded))
    for record, (at, log), (_, pose) in zip(records, seen["captions"], seen["pose"], strict=True):
        assert (log.message, log.line, log.name) == (record["caption"], record["id"], "front_camera")
        assert log.timestamp.seconds == at // 10**9
        position = pose.pose.position
        assert [position.x, position.y, position.z] == record["position"]
        turn = pose.pose.orientation
        assert math.isclose(2 * math.atan2(turn.z, turn.w), record["theta"], abs_tol=1e-9)
    assert len(seen["image"]) == len(seen["annotations"]) == len(records)
    assert all(image.format == "jpeg" for _, image in seen["image"])


def test_rerun_reads_the_mcap(memory):
    rerun = shutil.which("rerun", path=Path(os.sys.executable).parent)
    if rerun is None:
        pytest.skip("rerun-sdk is not installed")
    run, home = memory
    run("export", "--format", "mcap", "--frames", "-o", str(home / "b.mcap"))
    subprocess.run([rerun, "mcap", "check", home / "b.mcap"], check=True)
    converted = home / "b.rrd"
    subprocess.run([rerun, "mcap", "convert", home / "b.mcap", "-o", converted], check=True)
    stats = subprocess.run([rerun, "rrd", "stats", converted], check=True, capture_output=True, text=True).stdout
    assert "EncodedImage:blob" in stats
    assert "InstancePoses3D" in stats


def test_the_schemas_are_those_of_foxglove():
    package = pytest.importorskip("foxglove_schemas_protobuf")
    from google.protobuf import descriptor_pb2

    folder = ROOT / "src/cli/export/foxglove"
    kept = sorted(folder.glob("*.binpb"))
    assert len(kept) == 4
    for path in kept:
        held = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        for file in held.file:
            if not file.name.startswith("foxglove/"):
                continue
            module = file.name.removeprefix("foxglove/").removesuffix(".proto") + "_pb2"
            assert resources.files(package).joinpath(module + ".py").is_file()
            module = __import__(f"{package.__name__}.{module}", fromlist=["DESCRIPTOR"])
            assert module.DESCRIPTOR.serialized_pb == file.SerializeToString()


def test_the_numbers_are_read_by_prometheus_own_parser(memory):
    parser = pytest.importorskip("prometheus_client.parser")
    run, _ = memory
    families = {it.name: it for it in parser.text_string_to_metric_families(run("metrics"))}
    assert families["engram_frames"].type == "counter"
    assert sum(it.value for it in families["engram_frames"].samples) == 199
    captions = families["engram_caption_duration_seconds"]
    assert captions.type == "histogram"
    buckets = [it for it in captions.samples if it.name.endswith("_bucket")]
    assert [it.value for it in buckets] == sorted(it.value for it in buckets)
    assert buckets[-1].labels["le"] == "+Inf"
    for name, family in families.items():
        assert family.documentation, name
