"""Transition matrices, and the methods as functions of logits and labels."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import cleanest
from cleanest import methods, noise

KINDS = [getattr(methods, name) for name in methods.__all__]
CLASSES = [kind for kind in KINDS if inspect.isclass(kind) and kind is not methods.Method]


def test_noise_has_the_matrix_and_the_rate_of_its_name():
    pair = noise.pair(10, 0.4)
    assert np.allclose(pair.matrix, 0.6 * np.eye(10) + 0.4 * np.roll(np.eye(10), 1, axis=1))
    assert pair.noise_rate == pytest.approx(0.4) and pair.classes == 10
    assert pair == noise.parse("pair:0.4", 10) and np.array_equal(np.asarray(pair), pair.matrix)
    assert noise.pair2(5, 0.3, second=0.2).matrix[1].tolist() == pytest.approx([0, 0.56, 0.38, 0.06, 0])
    assert noise.random(4, 0.3, seed=1) == noise.random(4, rate=0.3, concentration=0.5, seed=1)
    assert noise.random(4, 0.3, seed=1) != noise.random(4, 0.3, seed=2)
    assert noise.clean(3).average_tv(noise.pair(3, 0.4)) == pytest.approx(0.4)


def test_labels_are_corrupted_at_the_rate_by_the_seed_alone():
    labels = np.arange(20_000, dtype=np.int16) % 4
    noisy = noise.symmetric(4, 0.3).corrupt(labels, seed=7)
    assert noisy.dtype == labels.dtype
    # Four deviations of a share.
    assert abs((noisy != labels).mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 20_000)
    assert np.array_equal(noisy, noise.symmetric(4, 0.3).corrupt(labels, seed=7))
    assert np.array_equal(noisy[:100], noise.symmetric(4, 0.3).corrupt(labels[:100], seed=7))
    names = np.array(["cat", "dog", "eel", "fox"])
    assert np.array_equal(names[noisy], noise.symmetric(4, 0.3).corrupt(names[labels], seed=7))


def test_a_matrix_is_kept_in_files_and_pickles(tmp_path):
    matrix = noise.tridiagonal(5, 0.2)
    for ending in ["json", "csv", "npy"]:
        matrix.save(tmp_path / f"t.{ending}")
        assert noise.Transition.load(tmp_path / f"t.{ending}") == matrix
    assert pickle.loads(pickle.dumps(matrix)) == matrix
    assert noise.pair(3, 0.2).then(noise.pair(3, 0.1)) == noise.pair2(3, 0.2, 0.1)


def test_mistakes_in_noise_are_named(tmp_path):
    for make, sentence in [
        (lambda: noise.pair(3, 1.5), r"must be a rate in \[0, 1\]"),
        (lambda: noise.pair(1, 0.5), "at least two classes"),
        (lambda: noise.parse("pairs:0.4", 3), "did you mean `pair`"),
        (lambda: noise.Transition([[1.0, 0.0], [0.5, 0.6]]), "must sum to 1"),
        (lambda: noise.Transition([[1.0, 0.0]]), "as many rows as columns"),
        (lambda: noise.pair(3, 0.4).corrupt([0, 3]), "label 3 in row 1"),
        (lambda: noise.pair(3, 0.4).corrupt(["a", "b"]), "2 different names for 3 classes"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            make()
    with pytest.raises(FileNotFoundError):
        noise.Transition.load(tmp_path / "none.json")
    with pytest.raises(TypeError):
        noise.pair(3)


def made(kind, **more):
    return kind(classes=3, **({"noise": "pair:0.2"} if kind is methods.KnownT else {}), **more)


def batch(seed=0, rows=16):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(rows, 3)), draw.integers(0, 3, rows)


@pytest.mark.parametrize("kind", CLASSES)
def test_the_gradient_of_every_method_is_that_of_its_loss(kind):
    method, (logits, labels) = made(kind), batch()
    if method.stages > 1:
        method.begin(1, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), labels)
    _, gradient = method.loss(logits, labels, learn=False)
    for row, column in [(0, 0), (3, 2), (15, 1)]:
        step = np.zeros_like(logits)
        step[row, column] = 1e-5
        high, low = (method.loss(logits + sign * step, labels, learn=False)[0] for sign in (1, -1))
        assert gradient[row, column] == pytest.approx((high - low) / 2e-5, abs=1e-8)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_method_goes_on_from_its_bytes_its_pickle_and_its_copy(kind):
    method = made(kind)
    for step in range(4):
        method.loss(*batch(step))
    fresh = made(kind)
    fresh.restore(bytes(method))
    others = [fresh, pickle.loads(pickle.dumps(method)), copy.deepcopy(method)]
    expected = method.loss(*batch(9))
    for other in others:
        loss, gradient = other.loss(*batch(9))
        assert loss == expected[0] and np.array_equal(gradient, expected[1]) and other.step == method.step == 5


def test_every_method_has_a_class_with_its_settings():
    assert [kind.NAME for kind in CLASSES] == list(methods.NAMES)
    signature = inspect.signature(methods.Tvd)
    assert list(signature.parameters)[:4] == ["classes", "steps", "seed", "gamma"]
    assert signature.parameters["gamma"].default == 0.1
    assert "regularizer" in methods.Tvd.__doc__
    assert methods.VolMinNet(3, lambda_=0.2) is not None
    assert repr(methods.Tvd(3, gamma=0.2)) == "Tvd(classes=3, gamma=0.2)"


def test_several_processes_learn_from_the_sum_of_what_they_see():
    (logits, labels), one = batch(), methods.VolMinNet(3)
    halves = [methods.VolMinNet(3), methods.VolMinNet(3)]
    one.loss(logits, labels)
    seen = []
    # What the first sends is only known once it was asked: a first round records, a second sums.
    for half, part in zip(copy.deepcopy(halves), (slice(0, 8), slice(8, 16)), strict=True):
        sent = []
        half.loss(logits[part], labels[part], total=lambda numbers, sent=sent: sent.append(numbers.copy()) or numbers)
        seen.append(sent)
    for half, part in zip(halves, (slice(0, 8), slice(8, 16)), strict=True):
        sums = iter([a + b for a, b in zip(*seen, strict=True)])
        half.loss(logits[part], labels[part], total=lambda _, sums=sums: next(sums))
        assert np.allclose(half.transition_matrix, one.transition_matrix, atol=1e-12)


def test_what_goes_wrong_elsewhere_is_raised_here():
    def broken(_):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        methods.Tvd(3).loss(*batch(), total=broken)


def test_mistakes_in_methods_are_named():
    method, (logits, labels) = methods.Tvd(classes=3), batch()
    for make, sentence in [
        (lambda: methods.Tvd(classes=1), "at least two classes"),
        (lambda: methods.Tvd(classes=3, gama=1), "did you mean `gamma`"),
        (lambda: methods.Gce(classes=3, q=1.5), r"`gce.q` must be in \(0, 1\]: 1.5"),
        (lambda: methods.named("tdv", 3), "did you mean `tvd`"),
        (lambda: method.loss(logits[:, :2], labels), r"`logits` must be of shape \(N, 3\)"),
        (lambda: method.loss(logits, labels[1:]), "15 labels for 16 rows"),
        (lambda: method.loss(logits, labels + 1), "is not a class"),
        (lambda: method.begin(1), "there is no stage 1"),
        (lambda: methods.Forward(3).begin(1), "needs the posteriors"),
        (lambda: method.restore(b"pickle"), "not the saved state of a method"),
        (lambda: method.restore(bytes(methods.Tvg(3))), "the saved state is of `tvg`"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            make()
    assert cleanest.methods is methods
