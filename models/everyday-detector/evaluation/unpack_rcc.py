"""Pictures of a resource file of Qt as PNG: python unpack_rcc.py FILE.rcc FOLDER DIR (pillow)

writes DIR/NAME.png of each FOLDER/NAME.webp in it.
"""

import io
import struct
import sys
import zlib
from pathlib import Path

from PIL import Image

DIRECTORY, COMPRESSED = 2, 1


def files(packed):
    """Path and bytes of each file; the layout is that of Qt's `rcc --binary`."""
    magic, version, tree, data, names = struct.unpack_from(">4sIIII", packed)
    if magic != b"qres":
        raise ValueError("no resource file of Qt")
    size = 22 if version >= 2 else 14

    def name(at):
        (length,) = struct.unpack_from(">H", packed, names + at)
        start = names + at + 6
        return packed[start : start + 2 * length].decode("utf-16-be")

    def walk(node, path):
        at = tree + node * size
        name_at, flags = struct.unpack_from(">IH", packed, at)
        if flags & DIRECTORY:
            count, first = struct.unpack_from(">II", packed, at + 6)
            inside = path + name(name_at) + "/" if node else ""
            for child in range(first, first + count):
                yield from walk(child, inside)
        else:
            (start,) = struct.unpack_from(">I", packed, at + 10)
            (length,) = struct.unpack_from(">I", packed, data + start)
            found = packed[data + start + 4 :][:length]
            yield path + name(name_at), zlib.decompress(found[4:]) if flags & COMPRESSED else found

    return walk(0, "")


def main(resource, folder, directory):
    """Writes the pictures."""
    out = Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    for path, picture in files(Path(resource).read_bytes()):
        file = Path(path)
        if file.parent.as_posix().endswith(folder) and file.suffix == ".webp":
            Image.open(io.BytesIO(picture)).convert("RGB").save(out / f"{file.stem}.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
