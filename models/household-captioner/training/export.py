"""Turns a checkpoint into a model directory as Hugging Face lays them out.

    python export.py --checkpoint runs/main/checkpoint.pt --out ..

The weights are written as f16. The output layer of the decoder is the word
embedding and is therefore not in the file; a loader has to tie the two.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from model import (
    DEC,
    IMAGE_MEAN,
    IMAGE_STD,
    MAX_CAPTION_TOKENS,
    PAD,
    POSITIONS,
    SEP,
    make_captioner,
    make_tokenizer,
)
from scene import PICTURE_SIZE

_TIED = ("text_decoder.cls.predictions.decoder.weight", "text_decoder.cls.predictions.decoder.bias")
"""Each equal to another tensor: the word embeddings, and `cls.predictions.bias`."""

_NOISE = {"_name_or_path", "id2label", "label2id", "chunk_size_feed_forward", "is_encoder_decoder", "return_dict"}

_BICUBIC = 3

_PREPROCESSOR = {
    "image_processor_type": "BlipImageProcessor",
    "do_convert_rgb": True,
    "do_resize": True,
    "size": {"height": PICTURE_SIZE, "width": PICTURE_SIZE},
    "resample": _BICUBIC,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": IMAGE_MEAN,
    "image_std": IMAGE_STD,
}

_GENERATION = {
    "bos_token_id": DEC,
    "eos_token_id": SEP,
    "pad_token_id": PAD,
    "max_length": MAX_CAPTION_TOKENS,
    "do_sample": False,
}

_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
    "bos_token": "[DEC]",
}

_TOKENIZER = {
    "tokenizer_class": "BertTokenizer",
    "do_lower_case": True,
    "model_max_length": POSITIONS,
    **_SPECIAL,
    "additional_special_tokens": ["[DEC]"],
}


def write_json(path: Path, data: dict) -> None:
    path.write_text(json.dumps(data, indent=2) + "\n")


def weights_of(captioner: nn.Module) -> dict[str, torch.Tensor]:
    """All weights that are not computed or tied, as f16."""
    return {
        name: tensor.half().contiguous()
        for name, tensor in captioner.state_dict().items()
        if name not in _TIED and not name.endswith("position_ids")
    }


def without_noise(config: dict) -> dict:
    """The configuration in full, because readers outside of transformers do not know its defaults, but for
    what says nothing about a captioner."""
    kept = {name: value for name, value in config.items() if value is not None and name not in _NOISE}
    return {name: without_noise(value) if isinstance(value, dict) else value for name, value in kept.items()}


def export(checkpoint: Path, out: Path) -> None:
    tokenizer = make_tokenizer()
    captioner = make_captioner(tokenizer.get_vocab_size())
    captioner.load_state_dict(torch.load(checkpoint, weights_only=True)["captioner"])
    weights = weights_of(captioner)
    assert all(torch.isfinite(tensor).all() for tensor in weights.values()), "too large for f16"
    out.mkdir(parents=True, exist_ok=True)
    weights_file = out / "model.safetensors"
    save_file(weights, weights_file, metadata={"format": "pt"})
    weights_file.chmod(0o644)
    config = captioner.config
    config.architectures = ["BlipForConditionalGeneration"]
    write_json(out / "config.json", without_noise({**config.to_dict(), "dtype": "float16"}))
    tokenizer.save(str(out / "tokenizer.json"))
    write_json(out / "tokenizer_config.json", _TOKENIZER)
    write_json(out / "special_tokens_map.json", _SPECIAL)
    write_json(out / "preprocessor_config.json", _PREPROCESSOR)
    write_json(out / "generation_config.json", _GENERATION)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    export(args.checkpoint, args.out)


if __name__ == "__main__":
    main()
