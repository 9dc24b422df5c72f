"""What the student is asked to reproduce: the teacher's vectors, similarities and rankings."""

from __future__ import annotations

import torch
import torch.nn.functional as F

RANKING_TEMPERATURE = 0.05
SIMILARITY_WEIGHT, RANKING_WEIGHT = 20.0, 0.5


def distillation_losses(
    student: torch.Tensor, teacher: torch.Tensor, projection: torch.Tensor
) -> dict[str, torch.Tensor]:
    """The three losses of a batch of normalised vectors; the target is the projected teacher."""
    target = F.normalize(teacher @ projection, dim=-1)
    same = torch.eye(len(student), dtype=torch.bool)
    ours = (student @ student.T).masked_fill(same, 0.0)
    theirs = (teacher @ teacher.T).masked_fill(same, 0.0)
    ranking = F.kl_div(
        F.log_softmax((ours / RANKING_TEMPERATURE).masked_fill(same, -1e4), dim=-1),
        F.softmax((theirs / RANKING_TEMPERATURE).masked_fill(same, -1e4), dim=-1),
        reduction="batchmean",
    )
    return {
        "cosine": 1 - (student * target).sum(-1).mean(),
        "similarity": F.mse_loss(ours, theirs),
        "ranking": ranking,
    }


def total(losses: dict[str, torch.Tensor]) -> torch.Tensor:
    return losses["cosine"] + SIMILARITY_WEIGHT * losses["similarity"] + RANKING_WEIGHT * losses["ranking"]
