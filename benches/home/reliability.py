"""Draws what `sureness.py` measured: is a goal that is given with 90 % right nine times in ten?

    python reliability.py --was before*.jsonl --is after*.jsonl --out reliability.svg

Prints Brier score, calibration error and coverage, and draws reliability (what was said, what was
so) and risk against coverage (of the surest share of the answers, how many are wrong), of the
first goals of all answers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

BINS = 10
SIDE, GAP, MARGIN = 260, 70, 45
COLOURS = {"was": "#999999", "is": "#1f6fb4"}


def first_goals(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """What was said and what was so."""
    rows = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    first = [row for row in rows if row["rank"] <= 1]
    return np.array([row["probability"] for row in first]), np.array([row["there"] for row in first], float)


def bins(said: np.ndarray, so: np.ndarray) -> list[tuple[int, float, float]]:
    number = np.minimum((said * BINS).astype(int), BINS - 1)
    kept = (number == at for at in range(BINS))
    return [(int(it.sum()), said[it].mean(), so[it].mean()) for it in kept if it.any()]


def calibration_error(said: np.ndarray, so: np.ndarray) -> float:
    return sum(count * abs(mean - share) for count, mean, share in bins(said, so)) / len(said)


def risks(said: np.ndarray, so: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of the answers that are given, the surest first, and how many of these are wrong."""
    order = np.argsort(-said, kind="stable")
    counts = np.arange(1, len(said) + 1)
    return counts / len(said), np.cumsum(1 - so[order]) / counts


def report(name: str, said: np.ndarray, so: np.ndarray) -> None:
    sure = said >= 0.9
    print(f"{name}: {len(said)} answers, said {said.mean():.3f}, so {so.mean():.3f}")
    print(f"  Brier score {((said - so) ** 2).mean():.4f}, calibration error {calibration_error(said, so):.3f}")
    print(f"  given with .9 or more: {sure.mean():.3f} of them, of these {so[sure].mean():.3f} so")
    for count, mean, share in bins(said, so):
        print(f"    {count:5} said {mean:.3f} so {share:.3f}")


def panel(left: float, title: str, x_name: str, y_name: str) -> list[str]:
    bottom = MARGIN + SIDE
    lines = [f'<rect x="{left}" y="{MARGIN}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#444"/>']
    lines.append(f'<text x="{left + SIDE / 2}" y="{MARGIN - 14}" text-anchor="middle">{title}</text>')
    lines.append(f'<text x="{left + SIDE / 2}" y="{bottom + 34}" text-anchor="middle">{x_name}</text>')
    middle = MARGIN + SIDE / 2
    turn = f"rotate(-90 {left - 32} {middle})"
    lines.append(f'<text x="{left - 32}" y="{middle}" transform="{turn}" text-anchor="middle">{y_name}</text>')
    for tick in (0, 0.5, 1):
        lines.append(f'<text x="{left + tick * SIDE}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
        lines.append(f'<text x="{left - 6}" y="{bottom - tick * SIDE + 4}" text-anchor="end">{tick}</text>')
    return lines


def path(left: float, xs, ys, colour: str, dash: str = "") -> str:
    points = " ".join(f"{left + x * SIDE:.1f},{MARGIN + SIDE - y * SIDE:.1f}" for x, y in zip(xs, ys, strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'


def draw(sets: dict[str, tuple[np.ndarray, np.ndarray]]) -> str:
    one, other = MARGIN + 10, MARGIN + 10 + SIDE + GAP
    width, height = other + SIDE + MARGIN, SIDE + 2 * MARGIN + 10
    parts = [*panel(one, "reliability", "said", "so"), *panel(other, "risk against coverage", "answered", "wrong")]
    parts.append(path(one, (0, 1), (0, 1), "#cccccc", "4 4"))
    for at, (name, (said, so)) in enumerate(sets.items()):
        _, means, shares = zip(*bins(said, so), strict=True)
        parts.append(path(one, means, shares, COLOURS[name]))
        covered, wrong = risks(said, so)
        step = max(1, len(covered) // 200)
        parts.append(path(other, covered[::step], wrong[::step], COLOURS[name]))
        label = {"was": "before", "is": "now"}[name]
        parts.append(f'<text x="{one + 12}" y="{MARGIN + 22 + 18 * at}" fill="{COLOURS[name]}">{label}</text>')
    body = "\n".join(parts)
    style = 'font-family="sans-serif" font-size="13"'
    frame = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} {style}>\n{body}\n</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--was", type=Path, nargs="*", default=[], help="claims of an earlier version")
    parser.add_argument("--is", type=Path, nargs="+", dest="now", required=True, help="claims of this one")
    parser.add_argument("--out", type=Path, help="the drawing")
    args = parser.parse_args()
    given = {"was": args.was, "is": args.now}
    sets = {name: first_goals(paths) for name, paths in given.items() if paths}
    for name, (said, so) in sets.items():
        report(name, said, so)
    if args.out:
        args.out.write_text(draw(sets))


if __name__ == "__main__":
    main()
