"""The learned method against its formulae written down once more, row by row and without a matrix."""

import math

import numpy as np
import pandas as pd
import pytest
from sweetspot.scaling.machine import CLASSIC, MODERN, eras
from sweetspot.scaling.pooled import (
    ERAS,
    MODERN_TERMS,
    SPREAD,
    TERMS,
    Pooled,
    _family_weight,
    _objective,
    fit_eras,
    fit_pooled,
    of_eras,
    parts_pooled,
    predict_pooled,
)

# What each cell is, and beside it the facts that follow from it by hand: devices N; a device's gradients in GB
# (millions of parameters x 4 bytes, half of that in fp16) and tensors; one device's step (batch / images/s); the flags.
CELLS = [
    ({"instance": "one", "family": "v100", "gpu": "Tesla V100", "gpus": 4, "model": "resnet50", "precision": "fp32",
      "interconnect": "nvlink", "batch_size": 64.0, "base_images_per_s": 320.0, "framework_version": "1.13"},
     {"N": 4, "gb": 0.1024, "tensors": 161, "step": 0.2, "nvlink": 1}),
    ({"instance": "one", "family": "v100", "gpu": "Tesla V100", "gpus": 8, "model": "vgg16", "precision": "fp16",
      "interconnect": "pcie", "batch_size": 32.0, "base_images_per_s": 320.0, "framework_version": "1.15.2"},
     {"N": 8, "gb": 0.2768, "tensors": 32, "step": 0.1, "recent": 1}),
    ({"instance": "two", "family": "v100", "gpu": "Tesla V100", "gpus": 8, "model": "resnet50", "precision": "fp16",
      "interconnect": "nvlink_bridge", "batch_size": 64.0, "base_images_per_s": 640.0, "framework_version": "1.14"},
     {"N": 8, "gb": 0.0512, "tensors": 161, "step": 0.1, "bridge": 1, "slow": 1}),
    ({"instance": "two", "family": "rtx 3090", "gpu": "RTX 3090", "gpus": 2, "model": "resnet50", "precision": "fp32",
      "interconnect": "pcie", "batch_size": 64.0, "base_images_per_s": 320.0, "framework_version": "2.4", "xla": True},
     {"N": 2, "gb": 0.1024, "tensors": 161, "step": 0.2, "recent": 1, "later": 1, "xla": 1, "faster": math.log(2)}),
]  # fmt: skip
EFFICIENCY = [0.9, 0.6, 0.55, 0.8]
MACHINES = {"one / Tesla V100": 0, "two / RTX 3090": 1, "two / Tesla V100": 2}
FAMILIES = {"rtx 3090": 0, "v100": 1}
GROUPS = {"machine": MACHINES, "family": FAMILIES}
WIDTH = len(TERMS) + len(SPREAD) * (len(MACHINES) + len(FAMILIES))


def frame(cells=CELLS, **changes):
    given = {"nodes": 1, "xla": False, "exchange": True, "as_of": "", "framework": "tensorflow"}
    return pd.DataFrame([given | cell | changes for cell, _ in cells])


def named(theta):
    """Coefficients by name; those of a machine or family as (name, machine or family)."""
    values = dict(zip(TERMS, theta, strict=False))
    rest = iter(theta[len(TERMS) :])
    for name in SPREAD:
        values |= {(name, group): next(rest) for group in (*MACHINES, *FAMILIES)}
    return values


def parts(theta, cell, fact):
    """c, l, s and q of the module's introduction for one cell."""
    value = named(theta)
    f = {"nvlink": 0, "bridge": 0, "later": 0, "recent": 0, "xla": 0, "slow": 0, "faster": 0.0} | fact
    doublings, ring = math.log2(f["N"] / 2), 2 * (f["N"] - 1) / f["N"]
    groups = (f"{cell['instance']} / {cell['gpu']}", cell["family"])

    def own(name):
        return value[name] + sum(value.get((name, group), 0.0) for group in groups)

    c = (
        own("c")
        + value["c_nvlink"] * f["nvlink"]
        + value["c_bridge"] * f["bridge"]
        + value["c_later_build"] * f["later"]
        + value["c_faster"] * f["faster"]
    )
    c += own("c_doubling") * doublings * (1 - f["nvlink"])
    start = own("l") + value["l_xla"] * f["xla"] + value["l_doubling"] * doublings + value["l_old"] * (1 - f["recent"])
    s = own("s") + value["s_doubling"] * doublings
    q = value["q"] + value["q_ring"] * math.log(ring) + value["q_old"] * (1 - f["recent"])
    return {
        "c": math.exp(c) * ring * f["gb"] / f["step"], "l": math.exp(start) * f["tensors"] / f["step"],
        "s": math.exp(s), "q": 2.5 * math.tanh(math.exp(q) * f["slow"] * ring / 2.5),
    }  # fmt: skip


def log_efficiency(theta, cell, fact):
    return -math.log(1 + sum(parts(theta, cell, fact).values()))


def slopes(theta, cell, fact, step=1e-6):
    """Of log efficiency, by each coefficient, numerically."""
    found = []
    for place in range(len(theta)):
        shift = np.zeros(len(theta))
        shift[place] = step
        found.append(
            (log_efficiency(theta + shift, cell, fact) - log_efficiency(theta - shift, cell, fact)) / (2 * step)
        )
    return np.array(found)


def prior():
    """Means and sds: a machine's and its family's part each have half of the variance of SPREAD."""
    groups = len(MACHINES) + len(FAMILIES)
    mean = [term.mean for term in TERMS.values()] + [0.0] * (groups * len(SPREAD))
    sd = [term.sd for term in TERMS.values()] + [wide / math.sqrt(2) for wide in SPREAD.values() for _ in range(groups)]
    return np.array(mean), np.array(sd)


@pytest.fixture(scope="module")
def theta():
    mean, sd = prior()
    return mean + 0.5 * sd * np.random.default_rng(3).normal(size=WIDTH)


# Three rows of one family and one of another: 1 / sqrt 3 each and 1, over their mean
WEIGHT = np.array([3**-0.5] * 3 + [1.0]) * 4 / (3 * 3**-0.5 + 1)


def loss(theta, efficiency=EFFICIENCY):
    gaps = [(math.log(seen) - log_efficiency(theta, *row)) / 0.04 for seen, row in zip(efficiency, CELLS, strict=True)]
    mean, sd = prior()
    fit = sum(weight * (math.sqrt(1 + gap**2) - 1) for weight, gap in zip(WEIGHT, gaps, strict=True))
    return fit + sum(((theta - mean) / sd) ** 2) / 2


def test_the_parts_of_a_step_are_those_of_the_formula(theta):
    found = parts_pooled(Pooled(theta, np.eye(WIDTH), GROUPS), frame())
    expected = pd.DataFrame([parts(theta, *row) for row in CELLS])
    pd.testing.assert_frame_equal(found[["c", "l", "s", "q"]], expected, rtol=1e-12)
    assert expected["q"].gt(0).tolist() == [False, False, True, False]
    apart = parts_pooled(Pooled(theta, np.eye(WIDTH), GROUPS), frame(exchange=False))
    assert (apart[["c", "l"]] == 0).all(axis=None)  # devices that train independently
    # XLA, and later builds, are spared what half precision costs beside batch normalisation
    assert parts_pooled(Pooled(theta, np.eye(WIDTH), GROUPS), frame(xla=True))["q"].tolist() == [0.0] * 4
    assert parts_pooled(Pooled(theta, np.eye(WIDTH), GROUPS), frame(framework_version="NGC"))["q"].tolist() == [0.0] * 4


def test_a_part_lies_between_e_to_the_minus_30_and_e_to_the_6():
    for value, kept in ((-40.0, -30), (9.0, 6), (5.0, 5)):
        theta = np.zeros(WIDTH)
        theta[list(TERMS).index("s")] = value
        found = parts_pooled(Pooled(theta, np.eye(WIDTH), GROUPS), frame())
        assert found["s"].to_numpy() == pytest.approx([math.exp(kept)] * 4)


def test_the_loss_is_that_of_the_formula(theta):
    objective = _objective(frame().assign(efficiency=EFFICIENCY), GROUPS, ERAS[CLASSIC])
    assert objective(theta).loss == pytest.approx(loss(theta), rel=1e-12)
    assert _family_weight(frame()["family"]) == pytest.approx(WEIGHT)


def test_the_curvature_is_that_of_the_loss_where_the_model_fits_and_less_for_what_lies_apart(theta):
    _, sd = prior()
    jacobian = np.array([slopes(theta, *row) for row in CELLS]) / 0.04
    fits = [math.exp(log_efficiency(theta, *row)) for row in CELLS]
    exact = _objective(frame().assign(efficiency=fits), GROUPS, ERAS[CLASSIC])(theta).curvature
    np.testing.assert_allclose(exact, jacobian.T @ (WEIGHT[:, None] * jacobian) + np.diag(sd**-2), rtol=1e-5, atol=1e-5)
    # A gap of g spreads is one of weight (r + 1) / (2 r^2), r = sqrt(1 + g^2): between the slope of the pseudo-Huber
    # loss over the gap, 1 / r, and its second derivative, 1 / r^3.
    gaps = np.array([0.5, 3.0, -2.0, 0.0])
    root = np.sqrt(1 + gaps**2)
    away = _objective(frame().assign(efficiency=fits * np.exp(0.04 * gaps)), GROUPS, ERAS[CLASSIC])(theta).curvature
    weight = WEIGHT * (root + 1) / (2 * root**2)
    np.testing.assert_allclose(away, jacobian.T @ (weight[:, None] * jacobian) + np.diag(sd**-2), rtol=1e-5, atol=1e-5)


def test_the_fit_is_the_least_loss_and_its_covariance_the_inverse_of_the_curvature():
    evidence = frame().assign(efficiency=EFFICIENCY)
    fitted = fit_pooled(evidence)
    assert fitted.groups == GROUPS
    best = loss(fitted.coefficients)
    for place in range(WIDTH):
        for shift in (-0.02, 0.02):
            moved = fitted.coefficients.copy()
            moved[place] += shift
            assert loss(moved) > best
    curvature = _objective(evidence, GROUPS, ERAS[CLASSIC])(fitted.coefficients).curvature
    np.testing.assert_allclose(fitted.covariance @ curvature, np.eye(WIDTH), atol=1e-8)


def test_the_scale_adds_what_is_not_known_of_machine_family_batch_and_network(theta):
    generator = np.random.default_rng(7)
    root = 0.1 * generator.normal(size=(WIDTH, WIDTH))
    model = Pooled(theta, root @ root.T, GROUPS)
    cell, fact = CELLS[1]

    def variance(machine=True, family=True, **change):
        """The formula: 4 % scatter, coefficients, and half of each spread for a new machine, half for a new family."""
        known = {name: group for name, group in (("instance", machine), ("family", family)) if not group}
        asked = cell | dict.fromkeys(known, "new") | change
        wide = fact | ({"gb": 0.06, "tensors": 160, "slow": 1} if "model" in change else {})  # a middling network
        wide |= {"step": 64 / 320} if "batch_size" in change else {}
        slope = slopes(theta, asked, wide)
        by_name = dict(zip(TERMS, slope, strict=False))
        total = 0.04**2 + slope @ model.covariance @ slope
        total += sum((by_name[name] * spread) ** 2 for name, spread in SPREAD.items()) * len(known) / 2
        exchange = by_name["c"] + by_name["l"]
        total += (0.5 * exchange) ** 2 * ("batch_size" in change) + (0.7 * exchange) ** 2 * ("model" in change)
        return asked, total, log_efficiency(theta, asked, wide)

    for asked, total, efficiency in (
        variance(),
        variance(machine=False),
        variance(family=False),
        variance(machine=False, family=False),
        variance(batch_size=math.nan),
        variance(model="mystery"),
    ):
        found = predict_pooled(model, frame([(asked, None)])).iloc[0]
        assert found["efficiency"] == pytest.approx(math.exp(efficiency))
        assert found["scale"] == pytest.approx(math.sqrt(total), rel=1e-6)


# Rates of real buses and machines, as factors, each with how far a prior may lie off; and either way (90 % and less).
ASSUMED = {
    "c": (1 / 4, 0.2),  # s a GB of PCIe
    "c_bridge": (0.75, 0.1),  # one link between two devices of several
    "c_doubling": (1, 1e-9),  # a ring keeps its bandwidth
    "l_doubling": (1.5, 0.05),
}
CLASSIC_RATES = ASSUMED | {
    "c_nvlink": (1 / 4, 0.1), "c_faster": (0.75, 0.1), "c_later_build": (1, 1e-9), "l": (0.15e-3, 0.15),  # s a tensor
    "l_xla": (1 / 3, 0.15), "l_old": (1, 1e-9), "s": (0.025, 0.1), "s_doubling": (1.2, 0.05),  # s, q: of a step
    "q": (1 / 3, 0.15), "q_ring": (2, 0.05), "q_old": (0.5, 0.05),
}  # fmt: skip
MODERN_RATES = ASSUMED | {
    "c_nvlink": (1 / 12, 0.1),
    "l": (0.06e-3, 0.1),
    "s": (0.015, 0.05),
    "s_doubling": (1.35, 0.01),
}
WIDE = {
    "c": 2.01, "c_nvlink": 2.01, "c_bridge": 1.35, "c_faster": 1.11, "c_later_build": 1.35, "c_doubling": 1.05,
    "l": 2.01, "l_xla": 1.65, "l_doubling": 1.35, "l_old": 1.65, "s": 2.01, "s_doubling": 1.35, "q": 2.01,
    "q_ring": 1.35, "q_old": 1.65,
}  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "rates", "wide"), [(TERMS, CLASSIC_RATES, WIDE), (MODERN_TERMS, MODERN_RATES, WIDE | {"c_nvlink": 2.72})]
)
def test_what_is_assumed_before_any_figure_is_what_the_module_says(terms, rates, wide):
    """A prior that moves by a third says something else."""
    assert set(rates) == set(terms)
    for name, (rate, off) in rates.items():
        assert math.exp(terms[name].mean) == pytest.approx(rate, rel=off)
    assert {name: round(math.exp(term.sd), 2) for name, term in terms.items()} == {name: wide[name] for name in terms}


def test_how_far_machines_families_and_networks_are_taken_to_lie_apart():
    # machines by e in bandwidth, by twice in latency, by four fifths more in waiting or in what a doubling costs
    assert {name: round(math.exp(wide), 1) for name, wide in SPREAD.items()} == {
        "c": 2.7, "c_doubling": 1.8, "l": 2.0, "s": 1.8
    }  # fmt: skip
    # families by twice in bandwidth, networks by three times in what they send and in what they wait for
    factors = {name: {kind: round(math.exp(wide), 1) for kind, wide in kinds.items()}
               for name, kinds in ERAS[MODERN].spread.items()}  # fmt: skip
    assert factors == {"c": {"family": 2.0, "network": 3.3}, "c_doubling": {"family": 1.5}, "s": {"network": 2.7}}
    assert ERAS[MODERN].residual == 0.03


# Of a modern model: population, then what BERT-large and the A6000 add. 0.668 GB in half precision, 391 tensors.
MODERN_CELL = {"instance": "box", "family": "a6000", "gpu": "RTX A6000", "gpus": 4, "model": "bert_large",
               "precision": "fp16", "interconnect": "pcie", "batch_size": 64.0, "base_images_per_s": 64.0,
               "framework_version": "", "framework": "torch"}  # fmt: skip


def modern_model(**coefficients):
    """A modern model that knows the families a6000 and v100 and the networks bertlarge and gnmt."""
    groups = {"family": {"a6000": 0, "v100": 1}, "network": {"bertlarge": 0, "gnmt": 1}}
    places = [*MODERN_TERMS, "c a6000", "c v100", "c bertlarge", "c gnmt", "doubling a6000", "doubling v100",
              "s bertlarge", "s gnmt"]  # fmt: skip
    theta = np.array([coefficients.get(name, -30.0 if name in ("c", "l", "s") else 0.0) for name in places])
    return Pooled(theta, np.zeros((len(places), len(places))), groups, ERAS[MODERN])


@pytest.mark.parametrize(
    ("coefficients", "changes", "expected"),
    [
        # 0.2 s/GB x 3/2 x 0.6682 GB over a step of 1 s; the device's and the network's own parts multiply
        ({"c": math.log(0.2)}, {}, {"c": 0.2 * 1.5 * 0.6682}),
        ({"c": math.log(0.2), "c a6000": math.log(2), "c bertlarge": math.log(3)}, {}, {"c": 1.2 * 1.5 * 0.6682}),
        ({"c": math.log(0.2), "c v100": 1.0, "c gnmt": 1.0}, {}, {"c": 0.2 * 1.5 * 0.6682}),  # of others
        ({"c": math.log(0.2), "c_nvlink": math.log(0.1)}, {"interconnect": "nvlink"}, {"c": 0.02 * 1.5 * 0.6682}),
        ({"c": math.log(0.2), "c_bridge": math.log(0.5)}, {"interconnect": "nvlink_bridge"}, {"c": 0.1 * 1.5 * 0.6682}),
        # four devices are one doubling of two; the bus only, and the family's own
        ({"c": math.log(0.2), "c_doubling": math.log(1.5)}, {}, {"c": 0.3 * 1.5 * 0.6682}),
        ({"c": math.log(0.2), "c_doubling": 9.0}, {"interconnect": "nvlink"}, {"c": 0.2 * 1.5 * 0.6682}),
        ({"c": math.log(0.2), "doubling a6000": math.log(2)}, {}, {"c": 0.4 * 1.5 * 0.6682}),
        ({"l": math.log(1e-4), "l_doubling": math.log(2)}, {}, {"l": 2e-4 * 391}),
        ({"s": math.log(0.01), "s_doubling": math.log(3), "s bertlarge": math.log(2)}, {}, {"s": 0.06}),
    ],
)
def test_a_modern_step_by_hand(coefficients, changes, expected):
    cells = frame([(MODERN_CELL | changes, None)], framework="torch")
    found = parts_pooled(modern_model(**coefficients), cells).iloc[0]
    assert list(found.index) == ["c", "l", "s"]
    for part, value in ({"c": 0.0, "l": 0.0, "s": 0.0} | expected).items():
        assert found[part] == pytest.approx(value, rel=1e-4, abs=1e-9)


def test_each_era_is_told_by_its_own_model_in_the_order_of_the_cells():
    old, new = CELLS[0][0] | {"framework": "tensorflow"}, MODERN_CELL
    cells = pd.DataFrame([{"nodes": 1, "xla": False, "exchange": True, "as_of": ""} | one for one in (new, old, new)])
    cells.index = [7, 3, 5]
    asked = []

    def told(model, rows):
        asked.append((model, list(rows.index)))
        return pd.DataFrame({model: 1.0, "both": 2.0}, index=rows.index)

    found = of_eras(lambda era: era, cells, told)
    assert asked == [("classic", [3]), ("modern", [7, 5])]
    assert list(found.index) == [7, 3, 5]
    assert found["modern"].tolist() == [1.0, 0.0, 1.0] and found["both"].tolist() == [2.0] * 3
    assert eras(cells.assign(framework=["jax", "pytorch", ""])).tolist() == ["modern", "modern", "classic"]


def test_an_era_without_a_figure_has_its_priors():
    model = fit_eras(frame().assign(efficiency=EFFICIENCY, framework="tensorflow"))("modern")
    assert model.coefficients.tolist() == [term.mean for term in MODERN_TERMS.values()]
    assert np.diag(model.covariance) == pytest.approx([term.sd**2 for term in MODERN_TERMS.values()])
