"""Captions images with transformers on one thread and prints what each took, as one line of JSON.

python benches/caption/reference.py MODEL IMAGE...        # torch, transformers, pillow
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import torch
from PIL import Image
from tokenizers import Tokenizer
from transformers import BlipForConditionalGeneration, BlipImageProcessorPil

WARM_UP = 4
MOST_WORDS = 60
"""Without it transformers ends a caption after 20 tokens."""


def main(model: Path, images: list[str]) -> None:
    torch.set_num_threads(1)
    processor = BlipImageProcessorPil.from_pretrained(model)
    words = Tokenizer.from_file(str(model / "tokenizer.json"))
    captioner = BlipForConditionalGeneration.from_pretrained(model, dtype=torch.float32).eval()

    @torch.inference_mode()
    def caption(path: str) -> str:
        pixels = processor(Image.open(path).convert("RGB"), return_tensors="pt")["pixel_values"]
        tokens = captioner.generate(pixel_values=pixels, do_sample=False, num_beams=1, max_new_tokens=MOST_WORDS)
        return words.decode(tokens[0].tolist(), skip_special_tokens=True)

    for path in images[:WARM_UP]:
        caption(path)
    captions, milliseconds = [], []
    for path in images:
        started = time.perf_counter()
        captions.append(caption(path))
        milliseconds.append(1e3 * (time.perf_counter() - started))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"milliseconds": milliseconds, "captions": captions, "peak_mb": peak}))


main(Path(sys.argv[1]), sys.argv[2:])
