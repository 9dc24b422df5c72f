"""Makes the captioner's world and renderer importable: `import training` before any of its modules."""

from __future__ import annotations

import sys
from pathlib import Path

DIRECTORY = Path(__file__).resolve().parents[2] / "models" / "household-captioner" / "training"

if not (DIRECTORY / "world.py").is_file():
    raise SystemExit(f"the captioner's world is not in {DIRECTORY}; the simulator runs in a checkout of the repository")
sys.path.insert(0, str(DIRECTORY))
