"""The loss of PyTorch's: its gradient, ten steps beside plain PyTorch, precision, devices, processes."""

from __future__ import annotations

import copy
import io
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys

import numpy as np
import pytest

import cleanest

torch = pytest.importorskip("torch")
nn = torch.nn
functional = torch.nn.functional

from cleanest.torch import NoisyLoss  # noqa: E402

torch.set_num_threads(1)
K = 4
T = cleanest.noise.pair2(K, 0.2, 0.1).matrix
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def batch(rows=24, seed=0, **kind):
    draw = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, K, generator=draw, dtype=torch.float64).to(**kind)
    return logits, torch.randint(0, K, (rows,), generator=draw)


@pytest.fixture(scope="module")
def known_t(tmp_path_factory):
    path = tmp_path_factory.mktemp("noise") / "t.json"
    cleanest.noise.Transition(T).save(path)
    return f"file:{path}"


def criterion(name, known_t, **more):
    loss = NoisyLoss(name, classes=K, **({"noise": known_t} if name == "known-t" else {}), **more)
    if loss.stages > 1:
        logits, labels = batch(200, seed=9, dtype=torch.float64)
        loss.begin_stage(1, logits.softmax(1), labels)
    return loss


@pytest.mark.parametrize("name", cleanest.methods.NAMES)
def test_the_gradient_of_every_method_is_that_of_its_loss(name, known_t):
    loss = criterion(name, known_t).eval()
    logits, labels = batch(dtype=torch.float64)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss(z, labels), (logits,), eps=1e-6, atol=1e-7)
    assert torch.autograd.gradcheck(lambda z: 3.0 * loss(z, labels) ** 2, (logits,), eps=1e-6, atol=1e-6)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, K)).double()


def ten_steps(loss_of, also=None):
    """The losses of ten steps of SGD, and the weights they lead to."""
    model, x = network(), torch.randn(24, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    labels = batch()[1]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(10):
        loss = loss_of(model(x), labels)
        for each in [optimizer, also]:
            if each is not None:
                each.zero_grad()
        loss.backward()
        optimizer.step()
        if also is not None:
            also.step()
        losses.append(loss.item())
    return np.array(losses), torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()


def plain_gce(z, y):
    return ((1 - z.softmax(1).gather(1, y[:, None]) ** 0.7) / 0.7).mean()


def plain_forward(z, y, t=None):
    return functional.nll_loss((z.softmax(1) @ (torch.from_numpy(T) if t is None else t)).log(), y)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("cce", functional.cross_entropy),
        ("mae", lambda z, y: (1 - z.softmax(1).gather(1, y[:, None])).mean()),
        ("gce", plain_gce),
        ("known-t", plain_forward),
    ],
)
def test_ten_steps_are_those_of_plain_torch(name, plain, known_t):
    ours, weights = ten_steps(criterion(name, known_t))
    theirs, expected = ten_steps(plain)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12)


def test_ten_steps_in_which_t_is_learnt_are_those_of_plain_torch():
    loss = NoisyLoss("volminnet", classes=K, form="softmax", lambda_=0.1)
    ours, weights = ten_steps(loss)
    w = torch.full((K, K), np.log(0.52 / (K - 1)), dtype=torch.float64)
    w.fill_diagonal_(np.log(0.48)).requires_grad_()

    def plain(z, y):
        t = w.softmax(1)
        return plain_forward(z, y, t) + 0.1 * torch.linalg.slogdet(t)[1]

    theirs, expected = ten_steps(plain, torch.optim.Adam([w], lr=0.01))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(loss.transition_matrix, w.softmax(1).detach(), rtol=1e-8)


def counts(values, step=0):
    """The saved state of a TVD that has counted so much."""
    numbers = np.asarray(values, dtype="<f8").tobytes()
    about = {"format": "cleanest method 1", "method": "tvd", "classes": str(K), "stage": "0", "step": str(step)}
    head = {"__metadata__": about, "counts": {"dtype": "F64", "shape": [K * K], "data_offsets": [0, len(numbers)]}}
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def test_ten_steps_of_tvd_are_those_of_plain_torch():
    # TVD draws T from what it has counted, and pairs of examples. With so many counts every draw is their mean, and with so
    # many pairs their mean is that over all pairs, up to a thousandth.
    loss = NoisyLoss("tvd", classes=K, gamma=0.5, pairs=400_000, keep=1.0)
    loss.method.restore(counts(1e14 * T))
    ours, weights = ten_steps(loss)

    def plain(z, y):
        p = z.softmax(1)
        spread = 0.5 * (p[:, None] - p[None]).abs().sum(2).mean()
        return plain_forward(z, y) - 0.5 * spread

    theirs, expected = ten_steps(plain)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    np.testing.assert_allclose(weights, expected, atol=5e-3)
    without, _ = ten_steps(plain_forward)
    assert abs(without - theirs).min() > 0.02, "the regularizer is felt"


def test_the_noise_is_learnt_in_training_mode_alone():
    loss = NoisyLoss("tvd", classes=K)
    logits, labels = batch()
    before = loss.transition_matrix
    loss.eval()
    first = loss(logits, labels)
    assert loss(logits, labels) == first and torch.equal(loss.transition_matrix, before)
    loss.train()
    loss(logits, labels)
    assert not torch.equal(loss.transition_matrix, before)


def test_a_state_dict_goes_on_where_it_was_left():
    loss, (logits, labels) = NoisyLoss("tvd", classes=K), batch()
    for _ in range(3):
        loss(logits, labels)
    file = io.BytesIO()
    torch.save(loss.state_dict(), file)
    file.seek(0)
    fresh = NoisyLoss("tvd", classes=K)
    fresh.load_state_dict(torch.load(file, weights_only=True))
    clone = copy.deepcopy(loss)
    expected = loss(logits, labels)
    assert fresh(logits, labels) == expected and clone(logits, labels) == expected
    with pytest.raises(ValueError, match="the saved state is of `tvd` with 4 classes, this is `tvg` with 4"):
        NoisyLoss("tvg", classes=K).load_state_dict(loss.state_dict())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_any_device_and_precision_is_taken_and_given_back(device, kind):
    logits, labels = batch(dtype=kind, device=device)
    logits.requires_grad_()
    loss = NoisyLoss("gce", classes=K)(logits, labels.to(device))
    assert loss.device.type == device and loss.dtype == (torch.float64 if kind == torch.float64 else torch.float32)
    loss.backward()
    assert logits.grad.dtype == kind and logits.grad.device.type == device
    exact = logits.detach().double().cpu().requires_grad_()
    plain_gce(exact, labels).backward()
    width = torch.finfo(kind).eps
    torch.testing.assert_close(logits.grad.double().cpu(), exact.grad, rtol=2 * width, atol=1e-2 * width)


@pytest.mark.parametrize("device", DEVICES)
def test_training_under_autocast_with_a_scaler(device):
    torch.manual_seed(0)
    model = nn.Linear(5, K).to(device)
    x, labels = torch.randn(32, 5, device=device), batch(32)[1].to(device)
    loss, optimizer = NoisyLoss("tvd", classes=K), torch.optim.SGD(model.parameters(), lr=0.5)
    scaler = torch.amp.GradScaler(device, init_scale=1024.0)
    losses = []
    for _ in range(30):
        with torch.autocast(device, dtype=torch.bfloat16 if device == "cpu" else torch.float16):
            logits = model(x)
            value = loss(logits, labels)
        assert logits.dtype != torch.float32 and value.dtype == torch.float32
        optimizer.zero_grad()
        scaler.scale(value).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(value.item())
    assert losses[-1] < losses[0]


def test_a_small_gradient_is_scaled_before_it_is_made_narrow():
    logits = torch.tensor([[12.0, 0.0, 0.0, 0.0]], dtype=torch.float16, requires_grad=True)
    value = NoisyLoss("cce", classes=K)(logits, torch.tensor([0]))
    (value / 1e4 * 65536.0).backward()
    assert (logits.grad[0, 1:] > 0).all(), "1e-9 is no number of half precision, 65536 times it is"


def test_logits_that_are_not_finite_teach_nothing():
    loss, (logits, labels) = NoisyLoss("tvd", classes=K), batch()
    before = loss.transition_matrix
    logits[3, 1] = float("inf")
    logits.requires_grad_()
    value = loss(logits, labels)
    value.backward()
    assert value.isnan() and logits.grad.isnan().any() and torch.equal(loss.transition_matrix, before)


def test_it_is_found_without_being_imported_by_name():
    said = "import cleanest, sys; assert 'torch' not in sys.modules; print(cleanest.torch.NoisyLoss('tvd', classes=3))"
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True)
    assert "NoisyLoss(Tvd(classes=3))" in ran.stdout, ran.stderr


def test_mistakes_are_named():
    loss, (logits, labels) = NoisyLoss("tvd", classes=K), batch()
    with pytest.raises(ValueError, match=r"`logits` must be of shape \(N, 4\)"):
        loss(logits[:, :3], labels)
    with pytest.raises(ValueError, match="label 6 in row 0"):
        loss(logits, labels + 4)
    with pytest.raises(ValueError, match="did you mean `tvd`"):
        NoisyLoss("tdv", classes=K)


def worker(rank, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(5, K).double())
    loss, optimizer = NoisyLoss("volminnet", classes=K), torch.optim.SGD(model.parameters(), lr=0.5)
    tvd = NoisyLoss("tvd", classes=K, keep=1.0, weight=1.0)
    x = torch.randn(40, 5, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    labels, mine = batch(40)[1], slice(20 * rank, 20 * rank + 20)
    for step in range(10):
        logits = model(x[mine])
        value = loss(logits, labels[mine])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        # A batch that is broken on one side is learnt from on neither, and nobody waits for the other.
        tvd(torch.full_like(logits, torch.nan) if (step, rank) == (4, 1) else logits.detach(), labels[mine])
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    torch.save((weights, loss.transition_matrix, torch.from_numpy(tvd.method.state()["counts"])), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_two_processes_learn_what_one_does(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(worker, (port, str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other), "both come to the same"
    torch.manual_seed(0)
    model, loss = nn.Linear(5, K).double(), NoisyLoss("volminnet", classes=K)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, labels = torch.randn(40, 5, generator=torch.Generator().manual_seed(5), dtype=torch.float64), batch(40)[1]
    for _ in range(10):
        value = loss(model(x), labels)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    torch.testing.assert_close(first[1], loss.transition_matrix, rtol=1e-9, atol=1e-12)
    # Nine batches of forty were counted, on top of the ten for each class.
    assert float(first[2].sum()) == pytest.approx(K * 10.0 + 9 * 40)


def test_the_example_learns_what_cross_entropy_does_not():
    pytest.importorskip("sklearn")
    script = pathlib.Path(__file__).resolve().parents[1] / "examples" / "torch_cnn.py"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    ran = subprocess.run([sys.executable, script, "--steps", "150"], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    plain, ours = (float(share) for share in re.findall(r": ([\d.]+) % right", ran.stdout))
    assert ours > plain + 5 and "average TV" in ran.stdout
