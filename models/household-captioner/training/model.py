"""The model: a BLIP in miniature, its tokenizer, the extra heads of the training, and greedy captioning.

The heads see what the captions are about: one reads type and colour of the
object in each cell off the patch tokens, the other reads surface and room off
the class token. They teach the encoder an order of magnitude faster than
captions alone do, and are dropped at export.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import nn
from transformers import BlipConfig, BlipForConditionalGeneration

from scene import LABEL_SIZE, PICTURE_SIZE
from world import COLOUR_NAMES, ROOM_NAMES, SURFACES, TYPE_NAMES, vocabulary

PATCH = 16
HIDDEN = 160
HEADS = 5
VISION_LAYERS, TEXT_LAYERS = 5, 2
POSITIONS = 64
MAX_CAPTION_TOKENS = 48

IMAGE_MEAN = [0.48145466, 0.4578275, 0.40821073]
IMAGE_STD = [0.26862954, 0.26130258, 0.27577711]

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]"]
PAD, SEP, DEC = 0, 3, 5
"""Padding, the end of a caption, and its beginning."""

TYPE_CLASSES = len(TYPE_NAMES) + 1
COLOUR_CLASSES = len(COLOUR_NAMES) + 2
"""Nothing, each colour, and "its colour is not named"."""


def make_tokenizer() -> Tokenizer:
    """A WordPiece tokenizer with exactly the words of the caption grammar."""
    words = SPECIAL_TOKENS + vocabulary()
    pieces = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    return tokenizer


def make_config(vocabulary_size: int) -> BlipConfig:
    return BlipConfig(
        vision_config={
            "hidden_size": HIDDEN,
            "intermediate_size": 4 * HIDDEN,
            "num_hidden_layers": VISION_LAYERS,
            "num_attention_heads": HEADS,
            "image_size": PICTURE_SIZE,
            "patch_size": PATCH,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-5,
            "projection_dim": 64,
        },
        text_config={
            "vocab_size": vocabulary_size,
            "hidden_size": HIDDEN,
            "encoder_hidden_size": HIDDEN,
            "intermediate_size": 4 * HIDDEN,
            "num_hidden_layers": TEXT_LAYERS,
            "num_attention_heads": HEADS,
            "max_position_embeddings": POSITIONS,
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "projection_dim": 64,
            "bos_token_id": DEC,
            "eos_token_id": SEP,
            "sep_token_id": SEP,
            "pad_token_id": PAD,
            "is_decoder": True,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
        },
        projection_dim=64,
        image_text_hidden_size=64,
    )


def make_captioner(vocabulary_size: int) -> BlipForConditionalGeneration:
    """A captioner with weights that a model of this size starts well from."""
    captioner = BlipForConditionalGeneration(make_config(vocabulary_size))
    for name, parameter in captioner.named_parameters():
        if parameter.dim() >= 2:
            is_embedding = "embed" in name and "patch" not in name
            nn.init.trunc_normal_(parameter, std=0.02 if is_embedding else 0.03)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    return captioner


@dataclass
class Cells:
    """What the cell head says: logits of type and colour, (batch, 16, 16, classes)."""

    types: torch.Tensor
    colours: torch.Tensor


class TrainingHeads(nn.Module):
    """Reads off the encoder what the renderer knows of the picture."""

    def __init__(self) -> None:
        super().__init__()
        self._patches = PICTURE_SIZE // PATCH
        self._cells = LABEL_SIZE // self._patches
        self.cell = nn.Linear(HIDDEN, self._cells**2 * (TYPE_CLASSES + COLOUR_CLASSES))
        self.whole = nn.Linear(HIDDEN, len(SURFACES) + len(ROOM_NAMES))

    def cells(self, encoded: torch.Tensor) -> Cells:
        p, c = self._patches, self._cells
        logits = self.cell(encoded[:, 1:]).float().view(-1, p, p, c, c, TYPE_CLASSES + COLOUR_CLASSES)
        logits = logits.permute(0, 1, 3, 2, 4, 5).reshape(-1, LABEL_SIZE, LABEL_SIZE, TYPE_CLASSES + COLOUR_CLASSES)
        return Cells(logits[..., :TYPE_CLASSES], logits[..., TYPE_CLASSES:])

    def surface_and_room(self, encoded: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = self.whole(encoded[:, 0]).float()
        return logits[:, : len(SURFACES)], logits[:, len(SURFACES) :]


def to_tensor(images: np.ndarray) -> torch.Tensor:
    """Pictures (n, 128, 128, 3) of 8 bits as the encoder takes them."""
    pixels = torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2).float() / 255
    mean = torch.tensor(IMAGE_MEAN).view(1, 3, 1, 1)
    std = torch.tensor(IMAGE_STD).view(1, 3, 1, 1)
    return (pixels - mean) / std


@torch.no_grad()
def greedy_captions(
    captioner: BlipForConditionalGeneration, tokenizer: Tokenizer, pixels: torch.Tensor, batch: int = 100
) -> list[str]:
    """The most probable word after word, from [DEC] to [SEP], for prepared pictures."""
    captions = []
    for part in pixels.split(batch):
        captions += _greedy_batch(captioner, tokenizer, part)
    return captions


def _greedy_batch(captioner: BlipForConditionalGeneration, tokenizer: Tokenizer, pixels: torch.Tensor) -> list[str]:
    encoded = captioner.vision_model(pixel_values=pixels).last_hidden_state
    ids = torch.full((len(pixels), 1), DEC)
    done = torch.zeros(len(pixels), dtype=torch.bool)
    while not done.all() and ids.shape[1] < MAX_CAPTION_TOKENS:
        logits = captioner.text_decoder(input_ids=ids, encoder_hidden_states=encoded, use_cache=False).logits
        following = logits[:, -1].float().argmax(-1)
        following[done] = PAD
        ids = torch.cat([ids, following[:, None]], 1)
        done |= following == SEP
    return [tokenizer.decode(row.tolist(), skip_special_tokens=True) for row in ids]
