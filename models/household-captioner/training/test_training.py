"""Checks of the world, the renderer and the tokenizer: `python -m pytest test_training.py`."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import household
from dataset import Augment, Sample
from model import make_tokenizer
from scene import LABEL_SIZE, PICTURE_SIZE, clear_scenes, render
from scoring import score
from world import FURNITURE, OBJECTS, SURFACES, TYPE_NAMES, Seen, Truth, all_things, caption, parse


@pytest.fixture(scope="module")
def renderings():
    return list(islice(clear_scenes(np.random.default_rng(11)), 30))


def _truth_of(things, surface=("desk", "wooden"), room="office") -> Truth:
    objects = [Seen(*thing, u=40 * i, v=100, pixels=500) for i, thing in enumerate(things)]
    return Truth(room, *surface, objects)


def test_a_caption_can_be_read_back():
    for thing in all_things():
        for surface in SURFACES:
            claims = parse(caption(_truth_of([thing], surface)))
            assert (claims.things, claims.surface) == ([thing], surface)


def test_things_are_named_from_left_to_right_and_the_nearer_first():
    mug, book = Seen("mug", "red", 90, 100, 500), Seen("book", "purple", 50, 100, 500)
    assert caption(Truth("office", "desk", "wooden", [mug, book])) == (
        "a purple book next to a red mug on a wooden desk in the office"
    )
    mug.v = 150
    assert caption(Truth("office", "desk", "wooden", [mug, book])) == (
        "a red mug in front of a purple book on a wooden desk in the office"
    )


def test_every_caption_is_within_the_vocabulary(renderings):
    tokenizer = make_tokenizer()
    for _, rendering in renderings:
        encoded = tokenizer.encode(caption(rendering.truth), add_special_tokens=False)
        assert "[UNK]" not in encoded.tokens
        assert max(encoded.ids) < tokenizer.get_vocab_size()
        assert tokenizer.decode(encoded.ids) == caption(rendering.truth)


def test_the_same_scene_gives_the_same_picture(renderings):
    scene, rendering = renderings[0]
    assert np.array_equal(render(scene).picture, rendering.picture)


def test_each_named_object_of_some_size_has_cells(renderings):
    for _, rendering in renderings:
        for seen in rendering.truth.objects:
            if seen.pixels > 900:
                assert TYPE_NAMES.index(seen.type) + 1 in rendering.labels.types


def test_augmentation_keeps_what_there_is_to_see(renderings):
    augment = Augment(np.random.default_rng(3))
    for _, rendering in renderings:
        sample = augment(Sample(rendering.picture, np.stack(rendering.labels), rendering.truth))
        assert sample.image.shape == (PICTURE_SIZE, PICTURE_SIZE, 3)
        assert sample.labels.shape == (2, LABEL_SIZE, LABEL_SIZE)
        before, after = rendering.truth.objects, sample.truth.objects
        assert sorted(map(str, (seen.thing for seen in before))) == sorted(map(str, (seen.thing for seen in after)))


def test_a_true_caption_scores_full_marks_and_a_wrong_colour_costs_both_ways():
    truth = _truth_of([("mug", "red")])
    right = score([caption(truth)], [truth]).summary()
    assert right["precision"] == right["recall"] == right["exact"] == 1
    wrong = score([caption(truth).replace("red", "blue")], [truth]).summary()
    assert (wrong["precision"], wrong["recall"], wrong["type_recall"]) == (0, 0, 1)


def test_the_household_keeps_things_where_they_can_be():
    whereabouts = [*household.AT_FIRST.items(), *((move.thing, move.to) for move in household.MOVES if move.to)]
    for thing, spot in whereabouts:
        type_name, colour = household.OBJECTS[thing]
        assert type_name in FURNITURE[household.SPOTS[spot].furniture].holds
        assert colour in (OBJECTS[type_name].colours or (None,))
