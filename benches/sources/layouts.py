"""The same frames as each source has them: files of a robot, data sets, a video, a camera's stream.

`make(directory, count)` writes them with ffmpeg and rosbags, and says where each lies.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Ros2Writer
from rosbags.typesys import Stores, get_typestore

START = 1767225600  # the first frame; one each second
WIDTH, HEIGHT = 640, 480


def make(directory, count):
    """Paths of each layout by its name, below a directory that is empty yet."""
    directory = pathlib.Path(directory)
    jpegs = pictures(directory / "frames", count, "%06d.jpg", "-q:v", 3)
    pngs = pictures(directory / "png", count, "%06d.png")
    grey = pictures(directory / "grey", count, "%06d.png", "-pix_fmt", "gray")
    video = directory / "video.mp4"
    ffmpeg("-framerate", 8, "-i", directory / "frames/%06d.jpg", "-pix_fmt", "yuv420p", video)
    return {
        "jpegs": jpegs,
        "video": video,
        "jsonl": jsonl(directory / "jsonl", jpegs),
        "photographs": photographs(directory / "photographs", jpegs),
        "tum": tum(directory / "tum", pngs),
        "kitti": kitti(directory / "kitti/sequences/00", pngs),
        "euroc": euroc(directory / "euroc", grey),
        "mcap": bag(directory / "packed", jpegs, StoragePlugin.MCAP),
        "mcap_raw": bag(directory / "raw", jpegs, StoragePlugin.MCAP, is_raw=True),
        "db3": bag(directory / "sqlite", jpegs, StoragePlugin.SQLITE3),
        "bag": ros1_bag(directory / "ros1.bag", jpegs),
    }


def ffmpeg(*arguments):
    done = subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *map(str, arguments)], check=True, stdout=subprocess.PIPE
    )
    return done.stdout


def pictures(directory, count, name, *options):
    """Frames of a moving test picture, each different enough for the gate."""
    directory.mkdir()
    picture = f"testsrc2=size={WIDTH}x{HEIGHT}:rate=30:duration={count / 30}"
    ffmpeg("-f", "lavfi", "-i", picture, "-vf", "hue=h=97*n", *options, directory / name)
    return sorted(directory.iterdir())


def pixels(file):
    """Rows of blue, green and red."""
    raw = ffmpeg("-i", file, "-f", "rawvideo", "-pix_fmt", "bgr24", "-")
    return np.frombuffer(raw, np.uint8).reshape(HEIGHT, WIDTH, 3)


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def link(file, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.link(file, path)


def jsonl(root, files):
    for file in files:
        link(file, root / file.name)
    lines = ({"file": file.name, "time": START + n, "position": [n, 0, 0]} for n, file in enumerate(files))
    write(root / "frames.jsonl", map(json.dumps, lines))
    return root


def photographs(root, files):
    """Copies: each has a time of its own."""
    root.mkdir()
    for n, file in enumerate(files):
        photograph = root / file.name
        photograph.write_bytes(file.read_bytes())
        os.utime(photograph, (START + n, START + n))
    return root


def tum(root, files):
    for n, file in enumerate(files):
        link(file, root / f"rgb/{START + n}.png")
    write(root / "rgb.txt", (f"{START + n} rgb/{START + n}.png" for n in range(len(files))))
    write(root / "groundtruth.txt", (f"{START + n} {n} 0 1 0 0 0 1" for n in range(len(files))))
    return root


def kitti(root, files):
    for file in files:
        link(file, root / "image_2" / file.name)
    # Numbers begin with 1 here, and lines with that of 0.
    write(root / "times.txt", range(len(files) + 1))
    write(root.parent.parent / "poses/00.txt", (f"1 0 0 0 0 1 0 0 0 0 1 {n}" for n in range(len(files) + 1)))
    return root


def euroc(root, files):
    names = [f"{(START + n) * 10**9}" for n in range(len(files))]
    for name, file in zip(names, files):
        link(file, root / f"mav0/cam0/data/{name}.png")
    write(root / "mav0/cam0/data.csv", (f"{name},{name}.png" for name in names))
    identity = "1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0"
    write(root / "mav0/cam0/sensor.yaml", [f"T_BS:\n  data: [{identity}]"])
    write(
        root / "mav0/state_groundtruth_estimate0/data.csv",
        (f"{name},{n},0,1,1,0,0,0" for n, name in enumerate(names)),
    )
    return root


def message(types, n, file, is_raw):
    """A `sensor_msgs/Image`, or a `CompressedImage`, and its type."""
    stamp = types["builtin_interfaces/msg/Time"](sec=START + n, nanosec=0)
    fields = {"stamp": stamp, "frame_id": "camera"}
    if "seq" in types["std_msgs/msg/Header"].__dataclass_fields__:
        fields["seq"] = n
    header = types["std_msgs/msg/Header"](**fields)
    if not is_raw:
        data = np.frombuffer(file.read_bytes(), np.uint8)
        kind = "sensor_msgs/msg/CompressedImage"
        return types[kind](header=header, format="bgr8; jpeg compressed bgr8", data=data), kind
    kind = "sensor_msgs/msg/Image"
    shape = {"height": HEIGHT, "width": WIDTH, "encoding": "bgr8", "is_bigendian": 0, "step": 3 * WIDTH}
    return types[kind](header=header, data=pixels(file).reshape(-1), **shape), kind


def bag(root, files, plugin, is_raw=False):
    store = get_typestore(Stores.ROS2_JAZZY)
    with Ros2Writer(root, version=9, storage_plugin=plugin) as writer:
        connection = None
        for n, file in enumerate(files):
            image, kind = message(store.types, n, file, is_raw)
            connection = connection or writer.add_connection("/camera", kind, typestore=store)
            writer.write(connection, (START + n) * 10**9, store.serialize_cdr(image, kind))
    return next(it for it in root.iterdir() if it.suffix in (".mcap", ".db3"))


def ros1_bag(path, files):
    store = get_typestore(Stores.ROS1_NOETIC)
    writer = Ros1Writer(path)
    writer.set_compression(Ros1Writer.CompressionFormat.LZ4)
    with writer:
        connection = None
        for n, file in enumerate(files):
            image, kind = message(store.types, n, file, False)
            connection = connection or writer.add_connection("/camera", kind, typestore=store)
            writer.write(connection, (START + n) * 10**9, store.serialize_ros1(image, kind))
    return path
