"""The default embedder in numpy: a text in, its unit vector out.

Agrees with `models/caption-embedder/golden.jsonl` to 1e-6 (`python embedder.py`).
"""

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

MODEL = Path(__file__).resolve().parents[2] / "models" / "caption-embedder"
TOKENS_MAX = 256


class Embedder:
    def __init__(self):
        self.config = json.loads((MODEL / "config.json").read_text())
        tensors = load_file(MODEL / "model.safetensors")
        self.weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
        self.tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS_MAX)

    def embed(self, text):
        ids = self.tokenizer.encode(text).ids
        hidden = self.weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + self.weights["embeddings.position_embeddings.weight"][: len(ids)]
        hidden = hidden + self.weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normed(hidden, "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        mean = hidden.mean(0)
        return mean / np.linalg.norm(mean)

    def _layer(self, hidden, prefix):
        heads = self.config["num_attention_heads"]
        width = hidden.shape[1] // heads

        def linear(name, x):
            weight = self.weights[f"{prefix}{name}.weight"]
            return x @ weight.T + self.weights[f"{prefix}{name}.bias"]

        def split(x):
            return x.reshape(-1, heads, width).transpose(1, 0, 2)

        parts = ("query", "key", "value")
        query, key, value = (split(linear(f"attention.self.{it}", hidden)) for it in parts)
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(width)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        seen = (scores @ value).transpose(1, 0, 2).reshape(hidden.shape)
        hidden = hidden + linear("attention.output.dense", seen)
        hidden = self._normed(hidden, f"{prefix}attention.output.LayerNorm")
        inner = linear("intermediate.dense", hidden)
        erf = np.vectorize(math.erf)(inner / math.sqrt(2)).astype(np.float32)
        hidden = hidden + linear("output.dense", 0.5 * inner * (1 + erf))
        return self._normed(hidden, f"{prefix}output.LayerNorm")

    def _normed(self, x, name):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        x = (x - mean) / np.sqrt(variance + self.config["layer_norm_eps"])
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


if __name__ == "__main__":
    embedder = Embedder()
    lines = (MODEL / "golden.jsonl").read_text().splitlines()
    golden = [json.loads(line) for line in lines]
    worst = max(np.abs(embedder.embed(it["text"]) - it["embedding"]).max() for it in golden)
    print(f"{len(golden)} golden vectors, worst difference {worst:.1e}")
