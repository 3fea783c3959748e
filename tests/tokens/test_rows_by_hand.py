"""Rows of machines without a figure of work by tokens: speed, ends, basis, source and warnings by hand."""

import math

import pandas as pd
import pytest
from sweetspot.study.instances import Instance
from sweetspot.study.open_models import flop_per_token, open_model
from sweetspot.study.study import StudyCells
from sweetspot.throughput.best import TABLE_COLUMNS
from sweetspot.transfer import unmeasured
from sweetspot.transfer.unmeasured import with_arithmetic

CELL, DENSE, OTHER = "llama-3.1-8b.lora.2048", "llama-3.1-8b", "resnet50"
# tests/study/test_models.py: 4 P, 6 A of adapters and attention.
FLOP = 4 * (32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256)
FLOP += 6 * 32 * 16 * (2 * 8192 + 2 * 5120) + 12 * 32 * 4096 * 2048
A100, MI300X = 312e12, 1307.4e12  # dense peaks in bf16
SD_95 = 1.959964  # 95 % of a normal value lie within so many standard deviations; a stack has one of 0.35


def machine(gpu="A100 SXM 80GB", gpus=1, **said):
    return Instance.model_validate({"title": "x", "provider": "own", "gpu": gpu, "gpus": gpus, **said})


def read(rate, instance="box", **said):
    row = {"instance": instance, "framework": "torch", "model": CELL, "batch_size": 1, "gpus": 1, "precision": "bf16",
           "variant": "default", "gpu": "A100 SXM 80GB", "nodes": 1, "images_per_s": rate, "images_per_s_low": rate,
           "images_per_s_high": rate, "runs": 1, "basis": "own", "status": "ok", "source": "x", "unit": "tokens",
           "warnings": [], "as_of": "2026-01-01", "logical": False, "xla": False}  # fmt: skip
    return row | said


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Tuned 0.4 and plain 0.1: a middle of sqrt(0.04) = 0.2, of lora alone."""
    shares = {"mfu": [0.4, 0.1, 0.7], "stack": ["tuned", "plain", "tuned"], "method": ["lora", "lora", "full"]}
    known = pd.DataFrame(shares).assign(model="a", gpu="b", software="c", mixture=False)
    monkeypatch.setattr(unmeasured, "published_figures", lambda: known)


def added(machines, *rows, **said):
    """The rows that a table of `rows` got."""
    cells = {"model": [CELL, OTHER], "batch_size": [1, 4], "precision": "bf16", "headline_batch_size": 1}
    question = StudyCells.model_validate(cells | {"framework": "torch"} | said)
    told = with_arithmetic(pd.DataFrame(rows, columns=list(TABLE_COLUMNS)), question, machines, "2026-11-25")
    return told[told["as_of"] == "2026-11-25"].to_dict("records")


def rates(row):
    return row["images_per_s"], row["images_per_s_low"], row["images_per_s_high"]


def speeds(share, peak, low, high=None):
    """Tokens a second and the ends of 95 %, which are logarithms in standard deviations of 95 %."""
    middle = share * peak / FLOP
    return pytest.approx((middle, middle * math.exp(-low), middle * math.exp(low if high is None else high)), rel=1e-6)


def test_a_whole_row_by_arithmetic():
    """0.2 of 312 TFLOP/s, over 33.3 G operations a token, and ends 0.35 x 1.96 from it. A row for each batch."""
    first, second = added({"box": machine()})
    assert rates(first) == rates(second) == speeds(0.2, A100, SD_95 * 0.35)
    assert (first.pop("batch_size"), second.pop("batch_size")) == (1, 4)
    told = {name: first[name] for name in first if first[name] == first[name] and not name.startswith("images")}
    assert told == {
        "instance": "box", "framework": "torch", "model": CELL, "gpus": 1, "precision": "bf16", "variant": "default",
        "gpu": "A100 SXM 80GB", "nodes": 1, "runs": 0, "basis": "arithmetic", "status": "ok", "unit": "tokens",
        "source": "3.33e+10 operations a token, 20% of the dense peak, as published figures of tokens-2026",
        "warnings": [], "as_of": "2026-11-25", "logical": False, "xla": False, "best": True,
    }  # fmt: skip
    assert added({"box": machine(framework="jax")}, batch_size=[2])[0]["framework"] == "jax"


def test_several_devices_of_another_maker_joined_by_pcie():
    """0.2 x 0.74 x 0.75 of four; below 0.34 of 0.74 and 3.5 of 15.4 of 0.75, above 1.6 and 0.95, as squares."""
    caution = {"rule": "slow_host", "message": "y"}
    row, _ = added({"box": machine("MI300X", 4, interconnect="pcie", nodes=2, warnings=[caution])})
    spread, times = 1.644854 * 0.35, SD_95 / 1.644854
    low = times * math.hypot(spread, math.log(0.74 / 0.34), math.log(0.75 / (3.5 / 15.4)))
    high = times * math.hypot(spread, math.log(1.6 / 0.74), math.log(0.95 / 0.75))
    assert rates(row) == speeds(0.2 * 0.74 * 0.75, 4 * MI300X, low, high)
    assert [pair["rule"] for pair in row["warnings"]] == ["maker_without_figure", "slow_host"]
    assert (row["gpus"], row["nodes"]) == (4, 2) and "11% of the dense peak" in row["source"]
    row, _ = added({"box": machine(gpus=2, interconnect="nvlink")})
    assert rates(row) == speeds(0.2, 2 * A100, SD_95 * 0.35)


def test_which_machines_get_a_row():
    """Not those that have a figure, can be measured or have no peak of the precision; a failed figure is none."""
    machines = {name: machine() for name in ("has", "failed", "empty", "shaky")}
    machines |= {"old": machine("Tesla P100"), "measured": machine(measure={"where": "local", "device": "gpu"})}
    rows = [read(1000, "has"), read(1000, "failed", status="failed"), read(math.nan, "empty"),
            read(1000, "shaky", status="unstable")]  # fmt: skip
    told = added(machines, *rows)
    assert [row["instance"] for row in told] == ["empty", "empty", "failed", "failed"] and told[0]["model"] == CELL
    assert not added(machines, model=[OTHER, DENSE])  # no work by tokens


def test_figures_of_the_study_tell_the_share_of_its_software():
    """In the middle 0.3 of the A100's peak; the RTX 4090 has 1,008 of its 2,039 GB/s, and so much of its speed."""
    machines = {"a": machine(), "b": machine(), "c": machine(), "new": machine("RTX 4090")}
    row, _ = added(machines, *(read(share * A100 / FLOP, name) for share, name in ((0.1, "a"), (0.3, "b"), (0.7, "c"))))
    # ends: a spread of 0.15 of the timing, and of 0.365 of the ratio of bandwidths
    wide = math.hypot(0.15, 0.365) * SD_95
    assert rates(row) == speeds(0.3 * 1008 / 2039, A100, wide)
    assert (row["instance"], row["basis"]) == ("new", "transferred")
    assert row["source"] == "3.33e+10 operations a token, 28% of the dense peak, as the figures of this study"


def test_a_smaller_model_is_carried_by_its_active_parameters():
    """1,235,746,816 of 8,029,995,008 parameters: 0.3 x 0.1539^0.1. Its operations: tests/study/test_models.py."""
    row, _ = added({"box": machine()}, read(0.3 * A100 / FLOP), model=["llama-3.2-1b.lora.2048"])
    speed = (
        0.3 * (1_235_746_816 / 8_029_995_008) ** 0.1 * A100 / flop_per_token(open_model("llama-3.2-1b"), "lora", 2048)
    )
    assert row["images_per_s"] == pytest.approx(speed, rel=1e-6)


def test_figures_of_several_devices_of_another_maker():
    """Four MI300X by PCIe, 0.111 of their peak: one does 0.111 / 0.75 = 0.148, the A100 2,039 / 5,300 of its speed."""
    machines = {"box": machine("MI300X", 4, interconnect="pcie"), "new": machine()}
    row, _ = added(machines, read(0.111 * 4 * MI300X / FLOP, gpus=4, gpu="MI300X"))
    # ends: as of a device of the same maker, and the spread of AMD's share beside NVIDIA's (0.34 and 1.6 around 0.74)
    same = 1.644854 * math.hypot(0.15, 0.365)
    low, high = (math.hypot(same, math.log(ratio)) * SD_95 / 1.644854 for ratio in (0.74 / 0.34, 1.6 / 0.74))
    assert rates(row) == speeds(0.148 * 2039 / 5300, MI300X, low, high)


@pytest.mark.parametrize(
    "said",
    [{"basis": "transferred"}, {"logical": True}, {"images_per_s": 0.0}, {"model": OTHER}],
)  # fmt: skip
def test_figures_that_tell_no_share(said):
    """Made of another figure, of a part of a processor, of no speed, of other work."""
    row, _ = added({"box": machine(), "new": machine()}, read(0.3 * A100 / FLOP) | said)[-2:]
    assert row["basis"] == "arithmetic" and row["images_per_s"] == pytest.approx(0.2 * A100 / FLOP)
