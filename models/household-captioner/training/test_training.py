"""Checks of the world, the renderer and the tokenizer: `python -m pytest test_training.py`."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice

import cv2
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import household
from calibrate import fit, is_right
from dataset import Augment, Sample
from export import weights_of
from invent import clear_scenes, invent_items, invent_light, invent_person, invent_place
from model import decode_greedily, make_captioner, make_tokenizer, to_tensor
from render import write_scenes
from scene import LABEL_SIZE, PERSON_TYPE, PICTURE_SIZE, Scene, render
from scoring import score
from train import start_from
from world import (
    ACTIVITY_NAMES,
    FURNITURE,
    OBJECTS,
    ROOMLESS,
    ROOMS,
    SURFACES,
    TYPE_NAMES,
    Seen,
    Truth,
    activities_at,
    all_things,
    caption,
    parse,
)


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


def test_what_a_person_does_can_be_read_back():
    for room in ROOMS:
        for furniture in ROOMS[room]:
            for activity in activities_at(room, furniture):
                material = FURNITURE[furniture].materials[0]
                for objects in ([], [Seen("mug", "red", 90, 100, 500)]):
                    claims = parse(caption(Truth(room, furniture, material, objects, activity)))
                    expected_room = None if furniture in ROOMLESS else room
                    assert claims == ([o.thing for o in objects], (furniture, material), expected_room, activity)


def test_every_activity_is_seen_and_labelled():
    rng = np.random.default_rng(5)
    seen = Counter()
    while min(seen[name] for name in ACTIVITY_NAMES) < 3:
        place = invent_place(rng, inhabited=True)
        person = invent_person(rng, place)
        rendering = render(Scene(place, invent_items(rng, place, 1, person), invent_light(rng), person=person))
        activity = rendering.truth.activity
        assert activity is None or activity == person.activity
        assert (PERSON_TYPE in rendering.labels.types) == (activity is not None)
        seen[activity] += 1


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


def test_rendered_files_say_what_the_frames_show(tmp_path):
    pictures = write_scenes(seed=4, count=12, out=tmp_path, quality=90)
    again = write_scenes(seed=4, count=12, out=tmp_path / "again", quality=90)
    assert all(np.array_equal(a, b) for a, b in zip(pictures, again, strict=True))
    lines = [json.loads(line) for line in (tmp_path / "truth.jsonl").read_text().splitlines()]
    assert len(lines) == 12
    for line in lines:
        frame = cv2.imread(str(tmp_path / line["file"]))
        assert frame.shape == (PICTURE_SIZE, PICTURE_SIZE, 3)
        assert line["caption"] == caption(Truth.from_json(line))
        for thing in line["objects"]:
            left, top, right, bottom = thing["box"]
            assert 0 <= left < right <= PICTURE_SIZE and 0 <= top < bottom <= PICTURE_SIZE
            assert 0 < thing["share"] <= (right - left) * (bottom - top) / PICTURE_SIZE**2


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


def test_a_model_of_a_smaller_vocabulary_is_taken_over_word_by_word(tmp_path):
    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    size = tokenizer.get_vocab_size()
    old = make_captioner(size)
    state = weights_of(old)
    # As if the last two words had not been known.
    for name in ("text_decoder.bert.embeddings.word_embeddings.weight", "text_decoder.cls.predictions.bias"):
        state[name] = state[name][: size - 2].flip(0).contiguous()
    words = json.loads(tokenizer.to_str())
    ids = words["model"]["vocab"]
    words["model"]["vocab"] = {word: size - 3 - i for word, i in ids.items() if i < size - 2}
    words["added_tokens"] = []
    (tmp_path / "tokenizer.json").write_text(json.dumps(words))
    save_file(state, tmp_path / "model.safetensors")
    new = make_captioner(size)
    untouched = new.text_decoder.bert.embeddings.word_embeddings.weight[size - 2 :].clone()
    start_from(tmp_path, new, tokenizer)
    embeddings = new.text_decoder.bert.embeddings.word_embeddings.weight
    expected = old.text_decoder.bert.embeddings.word_embeddings.weight
    assert torch.allclose(embeddings[: size - 2], expected[: size - 2], atol=1e-3)
    assert torch.equal(embeddings[size - 2 :], untouched)
    name = "vision_model.encoder.layers.0.mlp.fc1.weight"
    assert torch.allclose(new.state_dict()[name], old.state_dict()[name], atol=1e-3)


def test_log_probabilities_are_those_of_the_tokens_chosen(renderings):
    torch.manual_seed(1)
    tokenizer = make_tokenizer()
    captioner = make_captioner(tokenizer.get_vocab_size()).eval()
    pixels = to_tensor(np.stack([rendering.picture for _, rendering in renderings[:3]]))
    for together, picture in zip(decode_greedily(captioner, tokenizer, pixels), pixels, strict=True):
        alone = decode_greedily(captioner, tokenizer, picture[None])[0]
        assert together.caption == alone.caption
        assert np.allclose(together.log_probs, alone.log_probs, atol=1e-4)
        assert max(together.log_probs) <= 0


def test_the_fit_finds_the_chances_that_made_the_data():
    rng = np.random.default_rng(2)
    features = np.column_stack([np.ones(20000), -rng.random(20000), -3 * rng.random(20000)])
    true = np.array([2.0, 1.5, 0.8])
    right = rng.random(20000) < 1 / (1 + np.exp(-features @ true))
    assert np.allclose(fit(features, right), true, atol=0.25)


def test_a_caption_is_right_only_if_nothing_is_wrong_or_missing():
    truth = _truth_of([("mug", "red"), ("keys", None)])
    text = caption(truth)
    assert is_right(text, truth)
    for wrong in (text.replace("red", "blue"), text.replace("office", "kitchen"), text.replace("wooden", "white")):
        assert not is_right(wrong, truth)
    assert not is_right(text + ", where a person is reading", truth)
    assert not is_right(caption(_truth_of([("mug", "red")])), truth)


def test_the_household_keeps_things_where_they_can_be():
    whereabouts = [*household.AT_FIRST.items(), *((move.thing, move.to) for move in household.MOVES if move.to)]
    for thing, spot in whereabouts:
        type_name, colour = household.OBJECTS[thing]
        assert type_name in FURNITURE[household.SPOTS[spot].furniture].holds
        assert colour in (OBJECTS[type_name].colours or (None,))
