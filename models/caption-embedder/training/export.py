"""Writes the model directory from a checkpoint: f16 weights, configuration, tokenizer, golden vectors.

The golden vectors are computed in f32 from the f16 weights as they lie on disk, through
sentence-transformers, and are what other implementations are compared with.

    python export.py --checkpoint WORK/run/checkpoint.pt --vocabulary WORK/vocabulary --model ..
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from distil import HIDDEN, layers_of, new_student
from teach import MAX_TOKENS

GOLDEN_TEXTS = Path(__file__).with_name("golden_texts.txt")
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]
POOLING = {
    "word_embedding_dimension": HIDDEN,
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}
TOKENIZER_CONFIG = {
    "tokenizer_class": "BertTokenizer",
    "do_lower_case": True,
    "model_max_length": MAX_TOKENS,
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_model(checkpoint: Path, vocabulary: Path, folder: Path) -> None:
    state = torch.load(checkpoint, weights_only=False)
    weights = state["model"]
    student = new_student(torch.zeros_like(weights["embeddings.word_embeddings.weight"]), layers_of(weights))
    student.load_state_dict(weights)
    named = {
        name: tensor.half().contiguous() for name, tensor in student.state_dict().items() if tensor.is_floating_point()
    }
    save_file(named, str(folder / "model.safetensors"), metadata={"format": "pt"})

    config = student.config.to_dict() | {
        "architectures": ["BertModel"],
        "dtype": "float16",
        "_name_or_path": "caption-embedder",
    }
    write_json(folder / "config.json", {name: value for name, value in sorted(config.items()) if value is not None})
    write_json(folder / "modules.json", MODULES)
    write_json(folder / "1_Pooling" / "config.json", POOLING)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": True})
    write_json(folder / "tokenizer_config.json", TOKENIZER_CONFIG)
    shutil.copy(vocabulary / "tokenizer.json", folder / "tokenizer.json")


def write_golden(folder: Path) -> None:
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    texts = GOLDEN_TEXTS.read_text().splitlines()
    with (folder / "golden.jsonl").open("w") as out:
        for text in texts:
            # One text at a time: the reference without any padding.
            vector = model.encode([text], normalize_embeddings=True)[0]
            row = {"text": text, "embedding": [round(float(x), 7) for x in vector]}
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(texts)} golden vectors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    torch.set_num_threads(1)
    write_model(args.checkpoint, args.vocabulary, args.model)
    write_golden(args.model)
    size = sum(path.stat().st_size for path in args.model.rglob("*") if path.is_file())
    print(f"{args.model}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
