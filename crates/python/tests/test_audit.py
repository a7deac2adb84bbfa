"""The audit of arrays, files, columns of Arrow, and of parts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import K, example

import cleanest
from cleanest import _arrays

FILTERS = ["prune_by_noise_rate", "prune_by_class", "both"]


def in_parts(labels, p, size, filter_by="prune_by_noise_rate", through=lambda audit: audit):
    """The issues that workers find, each with a part of the rows, merged last to first."""
    whole, issues = cleanest.Audit(p.shape[1], filter_by=filter_by), None
    while issues is None:
        parts = []
        for first in range(0, len(labels), size):
            rows = np.arange(first, min(first + size, len(labels)))
            worker = through(cleanest.Audit.from_bytes(bytes(whole)))
            parts.append(through(worker.update(labels[rows], p[rows], rows)))
        for part in reversed(parts):
            whole.merge(part)
        issues = whole.finish()
    return issues


def test_a_mask_and_a_ranking_name_the_same_examples(table):
    labels, p = table
    mask = cleanest.find_label_issues(labels, p)
    ranked = cleanest.find_label_issues(labels, p, return_indices_ranked_by="self_confidence")
    assert mask.dtype == bool and mask.shape == labels.shape
    assert sorted(ranked) == np.flatnonzero(mask).tolist()
    confidence = p[ranked, labels[ranked]]
    assert (np.diff(confidence) >= 0).all()
    assert 0.05 < mask.mean() < 0.2


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, list])
def test_any_whole_numbers_are_labels(table, kind):
    labels, p = table
    given = labels.tolist() if kind is list else labels.astype(kind)
    assert np.array_equal(cleanest.find_label_issues(given, p), cleanest.find_label_issues(labels, p))


@pytest.mark.parametrize(
    "lie",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a.astype(a.dtype.newbyteorder(">")),
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
        lambda a: a.tolist(),
    ],
    ids=["by columns", "with gaps", "big-endian", "unaligned", "a list"],
)
def test_an_array_that_lies_otherwise_says_the_same(table, lie):
    labels, p = table
    wide = p.astype(np.float64)
    assert np.array_equal(cleanest.find_label_issues(lie(labels), lie(wide)), cleanest.find_label_issues(labels, wide))


def test_a_mapped_file_is_read_where_it_lies(table, tmp_path):
    labels, p = table
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "y.npy", labels)
    mapped = [np.load(tmp_path / name, mmap_mode="r") for name in ("y.npy", "p.npy")]
    assert np.array_equal(cleanest.find_label_issues(*mapped), cleanest.find_label_issues(labels, p))


def test_what_lies_as_it_should_is_not_copied(table):
    labels, p = table
    assert np.shares_memory(_arrays.probabilities(p), p) and np.shares_memory(_arrays.integers(labels), labels)


def test_a_batch_without_examples_changes_nothing():
    audit = cleanest.Audit(K)
    before = bytes(audit)
    assert bytes(audit.update([], np.empty((0, K)))) == before


def test_the_number_of_threads_changes_nothing(table):
    labels, p = table
    assert np.array_equal(cleanest.find_label_issues(labels, p, n_jobs=1), cleanest.find_label_issues(labels, p, n_jobs=3))


@pytest.mark.parametrize("filter_by", FILTERS)
@pytest.mark.parametrize("size", [3000, 770, 31])
def test_parts_find_what_one_process_finds(table, filter_by, size):
    labels, p = table
    issues = in_parts(labels, p, size, filter_by)
    ranked = cleanest.find_label_issues(labels, p, filter_by=filter_by, return_indices_ranked_by="self_confidence")
    assert issues["index"].tolist() == ranked.tolist()
    assert np.array_equal(issues["given"], labels[ranked])
    assert np.array_equal(issues["predicted"], p[ranked].argmax(axis=1))
    assert np.array_equal(issues["self_confidence"], p[ranked, labels[ranked]].astype(np.float64))


def test_batches_are_numbered_as_they_come(table):
    labels, p = table
    audit, issues = cleanest.Audit(K), None
    while issues is None:
        for first in range(0, len(labels), 512):
            audit.update(labels[first : first + 512], p[first : first + 512])
        issues = audit.finish()
    assert sorted(issues["index"]) == np.flatnonzero(cleanest.find_label_issues(labels, p)).tolist()


def test_a_state_travels_as_bytes_or_pickle(table):
    labels, p = table
    expected = in_parts(labels, p, 1000)
    assert np.array_equal(in_parts(labels, p, 1000, through=lambda a: pickle.loads(pickle.dumps(a))), expected)
    state = bytes(cleanest.Audit(K).update(labels, p))
    assert bytes(cleanest.Audit.from_bytes(state)) == state
    for broken in [b"", b"cleanest audit 1\n", state[:-1], state[:40] + b"\1" + state[41:], pickle.dumps(1)]:
        with pytest.raises(ValueError, match="not the bytes of an audit"):
            cleanest.Audit.from_bytes(broken)


def test_parts_that_do_not_belong_together_are_refused(table):
    labels, p = table
    audit = cleanest.Audit(K)
    with pytest.raises(ValueError, match="pass 1 of the audit saw 0 examples"):
        audit.finish()
    with pytest.raises(ValueError, match="not of one audit"):
        audit.merge(cleanest.Audit(K + 1))
    audit.update(labels, p).finish()
    with pytest.raises(ValueError, match="pass 1 and pass 2"):
        audit.merge(cleanest.Audit(K))
    audit.update(labels[:100], p[:100])
    with pytest.raises(ValueError, match="pass 2 of the audit saw 100 examples, expected 3000"):
        audit.finish()
    audit.update(labels[100:], p[100:]).finish()
    one, other = (cleanest.Audit.from_bytes(bytes(audit)).update(labels[:9], p[:9]) for _ in range(2))
    with pytest.raises(ValueError, match="give their numbers to each `update` as `rows`"):
        one.merge(other)


def test_an_update_that_is_wrong_changes_nothing(table):
    pa = pytest.importorskip("pyarrow")
    labels, p = table
    broken = p.copy()
    broken[2500, 0] = np.nan
    lists = pa.chunked_array([pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), K) for part in np.split(broken, 3)])
    audit = cleanest.Audit(K)
    before = bytes(audit)
    for given in [broken, lists]:
        with pytest.raises(ValueError, match=r"row 2500, class 0 \(both from 0\): not a probability: NaN"):
            audit.update(labels, given)
        assert bytes(audit) == before


def arrow_forms(labels, p):
    pa = pytest.importorskip("pyarrow")
    flat, columns = pa.array(p.ravel()), [pa.array(column) for column in np.ascontiguousarray(p.T)]
    fixed = pa.FixedSizeListArray.from_arrays(flat, K)
    offsets = np.arange(len(p) + 1) * K
    yield "fixed lists", pa.array(labels), fixed
    yield "lists", pa.array(labels.astype(np.int32)), pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)
    large = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat)
    yield "large lists", pa.array(labels.astype(np.uint8)), large
    chunks = pa.chunked_array([fixed[:1000], fixed[1000:1000], fixed[1000:]])
    yield "chunks", pa.chunked_array([labels[:7], labels[7:]]), chunks
    yield "a table", pa.array(labels), pa.table({f"c{at}": column for at, column in enumerate(columns)})
    polars = pytest.importorskip("polars")
    yield "polars", polars.Series(labels), polars.Series(p, dtype=polars.Array(polars.Float32, K))
    yield "polars frame", polars.Series(labels), polars.DataFrame(p)
    pandas = pytest.importorskip("pandas")
    yield "pandas", pandas.Series(labels), pandas.DataFrame(p)
    duckdb = pytest.importorskip("duckdb")
    whole = pa.table({"y": labels, "p": fixed})  # noqa: F841
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    yield "duckdb", connection.sql("select y from whole"), connection.sql("select p from whole").to_arrow_table()["p"]


def test_columns_of_arrow_say_what_arrays_say(table):
    labels, p = table
    expected = cleanest.find_label_issues(labels, p)
    forms = list(arrow_forms(labels, p))
    assert len(forms) == 9
    for name, y, columns in forms:
        assert np.array_equal(cleanest.find_label_issues(y, columns), expected), name
        assert cleanest.Audit(K).update(y, columns).seen == len(labels), name


def test_a_part_of_a_column_of_arrow_is_that_part(table):
    pa = pytest.importorskip("pyarrow")
    labels, p = table
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(p.ravel()), K)
    found = cleanest.find_label_issues(pa.array(labels)[11:2011], fixed[11:2011])
    assert np.array_equal(found, cleanest.find_label_issues(labels[11:2011], p[11:2011]))


def test_what_arrow_cannot_mean_is_refused():
    pa = pytest.importorskip("pyarrow")
    for labels, p, sentence in [
        ([0, None], [[0.5, 0.5], [0.5, 0.5]], "`labels` has 1 values that are null, the first in row 1"),
        ([0, 1], [[0.5, 0.5], None], "`pred_probs` has 1 values that are null"),
        ([0, 1], [[0.5, 0.5], [0.5, None]], "`pred_probs` has 1 values that are null"),
        ([0, 1], [[0.5, 0.5], [1.0]], r"row 1 \(from 0\) of `pred_probs` has 1 probabilities where the first has 2"),
        (["a", "b"], [[0.5, 0.5], [0.5, 0.5]], "`labels` must be a column of whole numbers"),
        ([0, 1], [["a", "b"], ["c", "d"]], "must be of Float32 or Float64"),
        ([0, 1], [0.5, 0.5], "must be a column of lists of floats or a table"),
        ([], [], "there are no examples|must be a column"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            cleanest.find_label_issues(pa.array(labels), pa.array(p))


@pytest.mark.parametrize(
    ("labels", "p", "sentence"),
    [
        ([0, 2], [[0.5, 0.5], [0.5, 0.5]], r"label 2 in row 1 \(from 0\) is not a class: there are 2, from 0"),
        ([0, -1], [[0.5, 0.5], [0.5, 0.5]], "label -1 in row 1"),
        ([0], [[0.5, 0.5], [0.5, 0.5]], "there are 1 labels for 2 rows of `pred_probs`"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.6]], r"row 1 \(from 0\): the probabilities sum to 1.100000, not to 1\nhint: "),
        ([0, 1], [[0.5, 0.5], [-0.5, 1.5]], r"row 1, class 0 \(both from 0\): not a probability: -0.5"),
        ([0.5, 1], [[0.5, 0.5], [0.5, 0.5]], "`labels` must be whole numbers"),
        (["a", "b"], [[0.5, 0.5], [0.5, 0.5]], "numpy.unique"),
        ([0, 1], [0.5, 0.5], r"`pred_probs` must be floats of shape \(N, K\)"),
        ([0, 0], [[1.0], [1.0]], "there must be at least two classes: 1"),
        ([], np.empty((0, 3)), "there are no examples"),
    ],
)
def test_each_mistake_has_its_sentence(labels, p, sentence):
    with pytest.raises(ValueError, match=sentence):
        cleanest.find_label_issues(labels, p)


def test_what_is_asked_wrongly_is_named(table):
    with pytest.raises(ValueError, match="did you mean `prune_by_class`"):
        cleanest.find_label_issues(*table, filter_by="prune_by_clas")
    with pytest.raises(ValueError, match="no way to rank is called `best`"):
        cleanest.find_label_issues(*table, return_indices_ranked_by="best")
    with pytest.raises(ValueError, match="`frac_noise` must be in"):
        cleanest.find_label_issues(*table, frac_noise=2)
    with pytest.raises(ValueError, match="3 numbers for 5 classes"):
        cleanest.find_label_issues(*table, num_to_remove_per_class=[1, 2, 3])
    with pytest.raises(ValueError, match="says nothing to the filter"):
        cleanest.find_label_issues(*table, filter_by="confident_learning", num_to_remove_per_class=[1] * 5)
    with pytest.raises(ValueError, match=r"`confident_joint` has shape \[2, 2\]"):
        cleanest.find_label_issues(*table, confident_joint=np.eye(2))
    with pytest.raises(NotImplementedError, match="more than one label"):
        cleanest.find_label_issues(*table, multi_label=True)
    with pytest.raises(ValueError, match="an audit in parts filters by"):
        cleanest.Audit(3, filter_by="confident_learning")


def test_as_many_are_found_as_are_asked_for():
    labels, p = example(2000, seed=3)
    found = cleanest.find_label_issues(labels, p, filter_by="prune_by_class", num_to_remove_per_class=[4, 0, 2, 9, 1])
    # Those whose label is the most probable class take their places, but are not issues.
    assert (np.bincount(labels[found], minlength=5) <= [4, 0, 2, 9, 1]).all() and found.sum() == 16
    kept = cleanest.find_label_issues(labels, p, min_examples_per_class=int(np.bincount(labels).max()))
    assert kept.sum() == 0


def test_a_panic_would_be_an_exception():
    with pytest.raises(RuntimeError, match="a bug in cleanest, please report it: as asked"):
        cleanest._cleanest._panic_for_a_test()
