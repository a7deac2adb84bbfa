"""The estimator: with scikit-learn, alone, stopped, saved."""

from __future__ import annotations

import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import cleanest
from cleanest import NoisyLabelClassifier

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])

# Checks that scikit-learn passes over by itself, each with the reason.
PASSED_OVER = {
    # It asks whether an array API other than numpy's is taken, and only where SCIPY_ARRAY_API was set before scipy was
    # imported. We do not say that we take one: examples become numpy arrays where they come in.
    "check_array_api_input",
}


@pytest.fixture(scope="module")
def fitted(digits):
    x, _, noisy = digits
    return NoisyLabelClassifier(steps=300).fit(x, NAMES[noisy])


def test_the_checks_of_scikit_learn():
    # Fewer steps and folds than by default, for the time it takes; everything else is as it is.
    found = check_estimator(NoisyLabelClassifier(steps=200, folds=2), on_skip=None)
    assert len(found) > 45
    assert {each["check_name"] for each in found if each["status"] != "passed"} <= PASSED_OVER


def test_the_true_classes_and_the_noise_are_learnt(digits, fitted):
    x, clean, noisy = digits
    assert fitted.score(x, NAMES[clean]) > 0.93
    assert set(fitted.classes_) == set(NAMES)
    p = fitted.predict_proba(x)
    assert p.shape == (len(x), 10) and np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(fitted.predict(x), fitted.classes_[p.argmax(axis=1)])
    assert fitted.noise_rate_ == pytest.approx((noisy != clean).mean(), abs=0.06)
    assert np.allclose(fitted.transition_matrix_.sum(axis=1), 1)
    assert fitted.transition_matrix_.diagonal().mean() == pytest.approx(0.7, abs=0.08)


def test_the_wrong_labels_are_found_and_put_right(digits, fitted):
    _, clean, noisy = digits
    issues = fitted.find_label_issues()
    sure = issues[issues["p_wrong"] > 0.9]
    assert len(sure) > 300
    assert (clean[sure["index"]] != noisy[sure["index"]]).mean() > 0.9
    assert np.array_equal(sure["given"], NAMES[noisy[sure["index"]]])
    assert (sure["suggested"] == NAMES[clean[sure["index"]]]).mean() > 0.85
    assert (np.diff(issues["p_wrong"]) <= 1e-6).all()
    frame = fitted.find_label_issues(as_frame=True)
    assert list(frame.columns) == list(issues.dtype.names) and len(frame) == len(issues)


def test_the_same_state_gives_the_same_and_another_another(digits):
    x, _, noisy = digits
    fit = lambda seed: NoisyLabelClassifier(steps=20, audit=False, random_state=seed).fit(x, noisy).predict_proba(x[:50])  # noqa: E731
    assert np.array_equal(fit(3), fit(3)) and not np.array_equal(fit(3), fit(4))
    draws = np.random.RandomState(0)
    assert not np.array_equal(fit(draws), fit(draws))


def test_it_works_where_estimators_work(digits):
    x, clean, noisy = digits
    quick = NoisyLabelClassifier(steps=250, audit=False)
    pipeline = make_pipeline(StandardScaler(), quick).fit(x, noisy)
    assert pipeline.score(x, clean) > 0.8
    search = GridSearchCV(quick, {"method": ["cce", "tvd"], "settings": [None, {"schedule": {"rate": 0.003}}]}, cv=2)
    search.fit(x, noisy)
    assert search.best_params_["method"] in ("cce", "tvd") and len(search.cv_results_["params"]) == 4
    p = cross_val_predict(quick, x, noisy, cv=2, method="predict_proba")
    found = cleanest.find_label_issues(noisy, p)
    assert (found & (noisy != clean)).sum() > 0.5 * (noisy != clean).sum()
    copy = clone(NoisyLabelClassifier(method="gce", steps=7, settings={"gce": {"q": 0.5}}))
    assert copy.get_params()["steps"] == 7 and not hasattr(copy, "classes_")


def test_a_pickle_and_a_folder_predict_the_same(digits, fitted, tmp_path):
    x, *_ = digits
    expected = fitted.predict_proba(x)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(x), expected)
    fitted.save(tmp_path / "run")
    loaded = NoisyLabelClassifier.load(tmp_path / "run")
    assert np.array_equal(loaded.predict_proba(x), expected)
    assert np.array_equal(loaded.predict(x), fitted.predict(x)) and loaded.steps == 300
    assert np.array_equal(loaded.find_label_issues(), fitted.find_label_issues())
    assert loaded.noise_rate_ == fitted.noise_rate_ and loaded.classes_.dtype == fitted.classes_.dtype
    with pytest.raises(FileExistsError, match="already holds something"):
        fitted.save(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="is not a run folder"):
        NoisyLabelClassifier.load(tmp_path)


@pytest.mark.parametrize(
    "labels", [np.array([3, 7]), np.array([1.0, 2.0]), np.array([False, True]), np.array(["a", "b"], object)], ids=str
)
def test_classes_keep_their_kind_in_a_folder(labels, tmp_path):
    draw = np.random.default_rng(0)
    side = draw.integers(0, 2, 60)
    x = draw.normal(size=(60, 2)) + 4 * side[:, None]
    fitted = NoisyLabelClassifier(steps=60, audit=False).fit(x, labels[side])
    fitted.save(tmp_path / "run")
    loaded = NoisyLabelClassifier.load(tmp_path / "run")
    assert loaded.classes_.dtype == labels.dtype and loaded.classes_.tolist() == labels.tolist()
    assert loaded.score(x, labels[side]) > 0.9


def test_the_page_is_written(fitted, tmp_path):
    page = fitted.report(tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "seven" in page


def test_images_of_bytes_are_taken(digits):
    x, clean, noisy = digits
    images = (x.reshape(-1, 8, 8) * 15).astype(np.uint8)
    fitted = NoisyLabelClassifier(steps=200, audit=False).fit(images, noisy)
    assert fitted.score(images, clean) > 0.85
    colored = np.repeat(images[..., None], 3, axis=3)
    assert NoisyLabelClassifier(steps=5, audit=False).fit(colored, noisy).predict(colored[:3]).shape == (3,)
    with pytest.raises(ValueError, match="the training set has 8 x 8 x 1 pixels"):
        fitted.predict(colored)


def test_mistakes_are_named(digits):
    x, _, noisy = digits
    for estimator, sentence in [
        (NoisyLabelClassifier(method="tdv"), "did you mean `tvd`"),
        (NoisyLabelClassifier(settings={"tvd": {"gama": 1}}), "did you mean `gamma`"),
        (NoisyLabelClassifier(settings={"batches": 3}), "did you mean `batch`"),
        (NoisyLabelClassifier(settings={"noise": "pair:0.4"}), "says nothing to arrays"),
        (NoisyLabelClassifier(steps=0), "`steps` must be one or more: 0"),
        (NoisyLabelClassifier(model="resnet"), "resnet"),
        (NoisyLabelClassifier(random_state=-1), "must not be negative"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            estimator.fit(x, noisy)
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        NoisyLabelClassifier(steps=50, audit=False, settings={"schedule": {"rate": 1e30}}).fit(x, noisy)
    with pytest.raises(ValueError, match="fit with `audit=True`"):
        NoisyLabelClassifier(steps=2, audit=False).fit(x, noisy).find_label_issues()
    with pytest.raises(sklearn.exceptions.NotFittedError):
        NoisyLabelClassifier().find_label_issues()


def test_other_threads_go_on_while_it_trains(digits):
    x, _, noisy = digits
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    NoisyLabelClassifier(steps=600, audit=False, settings={"batch": 512}).fit(x, noisy)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during >= 5, "a thread that waits for the lock would not have ticked"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise")
def test_ctrl_c_stops_it():
    script = textwrap.dedent("""
        import numpy as np, cleanest
        draw = np.random.default_rng(0)
        x, y = draw.normal(size=(2000, 50)), draw.integers(0, 5, 2000)
        try:
            cleanest.NoisyLabelClassifier(steps=100_000_000, verbose=True).fit(x, y)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", script], **pipes)
    # The first sign of progress: now it trains.
    assert process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == b"stopped\n" and process.returncode == 0


def test_progress_is_shown_where_asked_for(digits, capfd):
    x, _, noisy = digits
    NoisyLabelClassifier(steps=40, audit=False).fit(x, noisy)
    assert capfd.readouterr().err == ""
    NoisyLabelClassifier(steps=40, audit=False, verbose=True).fit(x, noisy)
    assert "40" in capfd.readouterr().err


ALONE = """
    import sys
    sys.modules["sklearn"] = sys.modules["sklearn.base"] = sys.modules["tqdm"] = None
    import numpy as np, cleanest, pickle
    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 200)
    x = draw.normal(size=(200, 4)) + 3 * y[:, None]
    model = cleanest.NoisyLabelClassifier(steps=100, verbose=True).set_params(folds=0).fit(x, y)
    assert model.score(x, y) > 0.8 and pickle.loads(pickle.dumps(model)).predict(x).shape == (200,)
    for wrong in [x[:, :3], x[0], np.full_like(x, np.nan)]:
        try:
            model.predict(wrong)
        except ValueError:
            continue
        raise SystemExit("not refused")
    assert not any(name.split(".")[0] in ("pandas", "torch", "pyarrow") for name in sys.modules)
"""


def test_it_needs_numpy_and_nothing_else():
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(ALONE)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "step 100/100" in ran.stderr


COMMAND = pathlib.Path(__file__).resolve().parents[3] / "target" / "debug" / "cleanest"


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built: target/debug/cleanest")
def test_the_command_and_the_estimator_read_each_others_folders(digits, fitted, tmp_path):
    x, _, noisy = digits

    def run(*words, check=True):
        return subprocess.run([COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, check=check)

    fitted.save(tmp_path / "mine")
    np.save(tmp_path / "x.npy", x.astype(np.float32))
    run("predict", "mine", "x.npy", "--out", "p.npy")
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), fitted.predict_proba(x), atol=1e-6)
    run("report", "mine")
    refused = run("audit", "mine", check=False)
    assert refused.returncode == 2 and "were given from Python and are in no file" in refused.stderr
    (tmp_path / "y.txt").write_text("\n".join(NAMES[noisy]))
    before = (tmp_path / "mine" / "suspects.csv").read_bytes()
    run("audit", "mine", "--labels", "y.txt")
    assert (tmp_path / "mine" / "suspects.csv").read_bytes() == before
    run("fit", "digits", "--steps", "20", "--folds", "0", "--out", "theirs", "--quiet")
    theirs = NoisyLabelClassifier.load(tmp_path / "theirs")
    assert theirs.classes_.tolist() == list(range(10))
    assert theirs.predict(np.zeros((2, 8, 8), np.uint8)).shape == (2,)
    assert 0 <= theirs.noise_rate_ <= 1 and theirs.find_label_issues().dtype["given"] == np.int64
