"""The model: a BLIP in miniature, its tokenizer, the extra heads of the training, and greedy captioning.

The heads see what the captions are about: one reads type and colour of the
object in each cell off the patch tokens, the other reads surface, room and
activity off the class token. They teach the encoder an order of magnitude faster than
captions alone do, and are dropped at export.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import nn
from transformers import BlipConfig, BlipForConditionalGeneration

from scene import LABEL_SIZE, PERSON_TYPE, PICTURE_SIZE
from world import ACTIVITY_NAMES, COLOUR_NAMES, ROOM_NAMES, SURFACES, vocabulary

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

TYPE_CLASSES = PERSON_TYPE + 1
"""Nothing, each type, and a person."""
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


_WHOLE_CLASSES = [len(SURFACES), len(ROOM_NAMES), len(ACTIVITY_NAMES) + 1]
"""Surfaces, rooms, and what a person does: the first is nothing."""


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
        self.whole = nn.Linear(HIDDEN, sum(_WHOLE_CLASSES))

    def cells(self, encoded: torch.Tensor) -> Cells:
        p, c = self._patches, self._cells
        logits = self.cell(encoded[:, 1:]).float().view(-1, p, p, c, c, TYPE_CLASSES + COLOUR_CLASSES)
        logits = logits.permute(0, 1, 3, 2, 4, 5).reshape(-1, LABEL_SIZE, LABEL_SIZE, TYPE_CLASSES + COLOUR_CLASSES)
        return Cells(logits[..., :TYPE_CLASSES], logits[..., TYPE_CLASSES:])

    def whole_picture(self, encoded: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Logits of surface, room and activity."""
        return self.whole(encoded[:, 0]).float().split(_WHOLE_CLASSES, 1)


def to_tensor(images: np.ndarray) -> torch.Tensor:
    """Pictures (n, 128, 128, 3) of 8 bits as the encoder takes them."""
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).contiguous().float()
    mean = torch.tensor(IMAGE_MEAN).view(1, 3, 1, 1)
    std = torch.tensor(IMAGE_STD).view(1, 3, 1, 1)
    # In place, and only once the layout is plain: a tenth of the training would go here otherwise.
    return pixels.div_(255 * std).sub_(mean / std)


class Decoded(NamedTuple):
    """A caption, and how probable the model found its tokens, the final [SEP] included."""

    caption: str
    log_probs: list[float]


def greedy_captions(
    captioner: BlipForConditionalGeneration, tokenizer: Tokenizer, pixels: torch.Tensor, batch: int = 100
) -> list[str]:
    """The most probable word after word, from [DEC] to [SEP], for prepared pictures."""
    return [decoded.caption for decoded in decode_greedily(captioner, tokenizer, pixels, batch)]


@torch.no_grad()
def decode_greedily(
    captioner: BlipForConditionalGeneration, tokenizer: Tokenizer, pixels: torch.Tensor, batch: int = 100
) -> list[Decoded]:
    return [decoded for part in pixels.split(batch) for decoded in _decode_batch(captioner, tokenizer, part)]


def _decode_batch(
    captioner: BlipForConditionalGeneration, tokenizer: Tokenizer, pixels: torch.Tensor
) -> Iterator[Decoded]:
    encoded = captioner.vision_model(pixel_values=pixels).last_hidden_state
    ids = torch.full((len(pixels), 1), DEC)
    log_probs = torch.zeros((len(pixels), 0))
    done = torch.zeros(len(pixels), dtype=torch.bool)
    while not done.all() and ids.shape[1] < MAX_CAPTION_TOKENS:
        logits = captioner.text_decoder(input_ids=ids, encoder_hidden_states=encoded, use_cache=False).logits
        best, following = logits[:, -1].float().log_softmax(-1).max(-1)
        following[done] = PAD
        ids = torch.cat([ids, following[:, None]], 1)
        log_probs = torch.cat([log_probs, best[:, None]], 1)
        done |= following == SEP
    for row, probs in zip(ids[:, 1:], log_probs, strict=True):
        caption = tokenizer.decode(row.tolist(), skip_special_tokens=True)
        yield Decoded(caption, probs[row != PAD].tolist())
