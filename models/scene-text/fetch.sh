#!/usr/bin/env bash
# The networks that read what is written in a picture, 16 MB, into DIR:
#     models/scene-text/fetch.sh DIR
# From rapidocr-onnxruntime of PyPI (Apache-2.0; PP-OCRv4 of PaddleOCR, Apache-2.0), checked by
# their hashes. Needs python3 with pip.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps \
    --dest "$work" rapidocr-onnxruntime==1.4.4
python3 -m zipfile -e "$work"/rapidocr_onnxruntime-*.whl "$work"
cp "$work/rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx" "$dir/find.onnx"
cp "$work/rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx" "$dir/read.onnx"
cd "$dir"
sha256sum --check --quiet <<'SUMS'
d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9  find.onnx
48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b  read.onnx
SUMS
echo "find.onnx and read.onnx are in $dir; use them with: captioner.scene_text = \"$dir\""
