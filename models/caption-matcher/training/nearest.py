"""Which sentences are nearest to a question, by the cosine of vectors of all-MiniLM-L6-v2."""

from __future__ import annotations

from pathlib import Path

import torch
from places import Place, Question, sentences
from torch.nn import functional
from transformers import BertModel, BertTokenizerFast


class Embedder:
    def __init__(self, model: Path):
        self.model = BertModel.from_pretrained(model).float().eval()
        self.tokenizer = BertTokenizerFast.from_pretrained(model)

    @torch.no_grad()
    def embed(self, texts: list[str], batch: int = 256) -> torch.Tensor:
        """Unit vectors, one row a text."""
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = torch.empty(len(texts), self.model.config.hidden_size)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            some = [texts[at] for at in rows]
            tokens = self.tokenizer(some, padding=True, truncation=True, max_length=96, return_tensors="pt")
            hidden, mask = self.model(**tokens).last_hidden_state, tokens["attention_mask"][..., None].float()
            found[rows] = functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)
        return found


class Sentences:
    """The sentences of a place, with their vectors and those of its questions."""

    def __init__(self, embedder: Embedder, place: Place):
        self.said = [(number, it) for number, caption in place.captions.items() for it in sentences(caption)]
        self.vectors = embedder.embed([it for _, it in self.said])
        asked = list(dict.fromkeys(it.text for it in place.questions))
        self.asked = dict(zip(asked, embedder.embed(asked)))

    def nearest(self, question: Question) -> dict[int, list[tuple[float, str]]]:
        """Of each caption its sentences, the nearest first; captions likewise."""
        cosines = (self.vectors @ self.asked[question.text]).tolist()
        found: dict[int, list[tuple[float, str]]] = {}
        for cosine, (number, sentence) in sorted(zip(cosines, self.said), reverse=True):
            found.setdefault(number, []).append((cosine, sentence))
        return found
