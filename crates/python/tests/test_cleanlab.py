"""Beside cleanlab, on real data: the digits that scikit-learn holds, some of their labels moved."""

from __future__ import annotations

import warnings

import pytest

import cleanest

filters = pytest.importorskip("cleanlab.filter")
linear_model = pytest.importorskip("sklearn.linear_model")

# Where cleanlab and we may differ: `prune_by_noise_rate`, `prune_by_class` and `both` round the counts of the joint to
# whole numbers, cleanlab along the true classes, we along the given labels, so that as many of each label are cut as the
# joint says. A count is moved by at most one, and with it one example for each label and class.
ROUNDED = {"prune_by_noise_rate", "prune_by_class", "both"}


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict

    x, clean = load_digits(return_X_y=True)
    labels = cleanest.noise.pair(10, 0.15).corrupt(clean, seed=0)
    model = linear_model.LogisticRegression(max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = cross_val_predict(model, x / 16, labels, cv=4, method="predict_proba")
    return labels, p, clean


@pytest.mark.parametrize(
    "filter_by",
    [
        "prune_by_noise_rate",
        "prune_by_class",
        "both",
        "confident_learning",
        "predicted_neq_given",
        "low_normalized_margin",
        "low_self_confidence",
    ],
)
def test_the_same_examples_are_found(digits, filter_by):
    labels, p, _ = digits
    ours = cleanest.find_label_issues(labels, p, filter_by=filter_by)
    theirs = filters.find_label_issues(labels, p, filter_by=filter_by, n_jobs=1)
    assert theirs.sum() > 100
    allowed = 10 if filter_by in ROUNDED else 0
    assert (ours != theirs).sum() <= allowed


@pytest.mark.parametrize("rank", ["self_confidence", "normalized_margin", "confidence_weighted_entropy"])
def test_the_same_examples_come_in_the_same_order(digits, rank):
    labels, p, _ = digits
    ask = {"filter_by": "confident_learning", "return_indices_ranked_by": rank}
    ours, theirs = cleanest.find_label_issues(labels, p, **ask), filters.find_label_issues(labels, p, n_jobs=1, **ask)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(
    "more",
    [{"frac_noise": 0.5}, {"min_examples_per_class": 160}, {"num_to_remove_per_class": [3] * 10}],
    ids=str,
)
def test_fewer_are_found_where_fewer_are_asked_for(digits, more):
    labels, p, _ = digits
    ours = cleanest.find_label_issues(labels, p, filter_by="prune_by_class", **more)
    theirs = filters.find_label_issues(labels, p, filter_by="prune_by_class", n_jobs=1, **more)
    assert 0 < ours.sum() < cleanest.find_label_issues(labels, p, filter_by="prune_by_class").sum()
    assert (ours != theirs).sum() <= 20


def test_the_labels_that_were_moved_are_found(digits):
    labels, p, clean = digits
    found = cleanest.find_label_issues(labels, p)
    wrong = labels != clean
    assert (found & wrong).sum() / wrong.sum() > 0.9
    assert (found & wrong).sum() / found.sum() > 0.6
