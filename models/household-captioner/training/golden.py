"""Captions of the reference implementation, for other implementations to be compared with.

    python golden.py --model .. --flat ../flat --out ../golden.jsonl
    python golden.py --model .. --flat ../flat --check ../golden.jsonl

The reference is `transformers` in f32 with weights from the f16 file: its image
processor on the JPEG file as it is, and its greedy generation.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from PIL import Image
from tokenizers import Tokenizer
from transformers import AutoImageProcessor, BlipForConditionalGeneration
from transformers.utils.logging import disable_progress_bar

from model import MAX_CAPTION_TOKENS

FRAMES = 64


class Reference:
    def __init__(self, directory: Path):
        self._captioner = BlipForConditionalGeneration.from_pretrained(directory, dtype=torch.float32).eval()
        # The backend without torchvision: Pillow's bicubic filter is the one that BLIP was trained with.
        self._processor = AutoImageProcessor.from_pretrained(directory, backend="pil")
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))

    @torch.no_grad()
    def caption(self, file: Path) -> str:
        pixels = self._processor(images=Image.open(file), return_tensors="pt").pixel_values
        ids = self._captioner.generate(pixels, max_length=MAX_CAPTION_TOKENS, num_beams=1, do_sample=False)
        return self._tokenizer.decode(ids[0].tolist(), skip_special_tokens=True)


def chosen_frames(flat: Path) -> list[str]:
    """Frames spread over all three days."""
    files = [json.loads(line)["file"] for line in (flat / "frames.jsonl").read_text().splitlines()]
    return [files[i * len(files) // FRAMES] for i in range(FRAMES)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--flat", type=Path, required=True)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--out", type=Path)
    action.add_argument("--check", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    disable_progress_bar()
    reference = Reference(args.model)
    if args.out:
        lines = [{"file": file, "caption": reference.caption(args.flat / file)} for file in chosen_frames(args.flat)]
        args.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return
    expected = [json.loads(line) for line in args.check.read_text().splitlines()]
    different = [line["file"] for line in expected if reference.caption(args.flat / line["file"]) != line["caption"]]
    print(f"{len(expected) - len(different)} of {len(expected)} captions are the same")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
