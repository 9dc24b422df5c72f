"""Where everything is at any time, and how well what was said agrees with it."""

import numpy as np
import pytest

from reliability import calibration_error, risks
from simulate import simulate
from sureness import Home

SEED, DAYS = 3, 2


@pytest.fixture(scope="module")
def home() -> Home:
    return Home(SEED, DAYS, None)


def test_the_household_is_the_one_of_the_benchmark(home):
    _, _, frames, _ = simulate(SEED, DAYS)
    assert [(frame.time, frame.things) for frame, _ in home.frames] == [(it.time, it.things) for it in frames]


def test_what_a_frame_shows_is_there_and_nowhere_else(home):
    spots = home.layout.spots
    for frame, _ in home.frames:
        for thing in frame.things:
            near = [name for name, it in spots.items() if home.is_there(thing, frame.time, list(it.seen_from))]
            assert near == [frame.spot]


def test_calibration_error_is_the_distance_between_said_and_so():
    said, so = np.array([0.85, 0.85, 0.25, 0.25]), np.array([1.0, 0.0, 0.0, 0.0])
    assert calibration_error(said, so) == pytest.approx((0.35 + 0.25) / 2)


def test_risk_is_of_the_surest_answers():
    covered, wrong = risks(np.array([0.2, 0.9]), np.array([0.0, 1.0]))
    assert covered.tolist() == [0.5, 1.0]
    assert wrong.tolist() == [0.0, 0.5]
