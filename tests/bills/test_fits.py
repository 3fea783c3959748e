"""Options whose devices cannot hold the workload take no part, and say so."""

from dataclasses import replace
from functools import cache

import pandas as pd
from decision_tables import BOX, RENTED, inputs, settings
from sweetspot.bills.fits import apart, fit_warnings, fitting_plans, with_fits
from sweetspot.decision.compare import compare
from sweetspot.study.instances import Needs
from sweetspot.study.workloads import Need

MEMORY = {BOX: 11.0, RENTED: 16.0}


@cache
def compared(gib, **more):
    needs = {"imagenet": Need(Needs(gpu_memory_gib=gib))}
    return compare(inputs(), replace(settings(**more), gpu_memory_gib=MEMORY), draws=100, needs=needs)


@cache
def plain():
    """Nobody states a need."""
    return compare(inputs(), settings(), draws=100)


def test_what_cannot_hold_it_is_named_and_ranked_nowhere():
    # 12 GiB: the box has 11 a device, the rented machine 16
    found = compared(12.0, reference=None)
    options = found["options"].set_index("instance")
    assert list(options.loc[[BOX], "fits"]) == [False] and options.loc[[RENTED], "fits"].all()
    assert tuple(options.loc[BOX, ["memory_need_gib", "gpu_memory_gib"]]) == (12.0, 11.0)
    for name in ("ranks", "break_even", "tornado", "choices", "worth_knowing", "verdict"):
        table = found[name].astype(str)
        assert not table.apply(lambda column: column.str.contains(BOX)).to_numpy().any(), name
    assert found["verdict"]["best"].iloc[0] == RENTED
    told = found["warnings"].set_index("rule").loc["does_not_fit"]
    assert told["instance"] == BOX
    assert told["message"] == "imagenet needs 12 GiB on each device, which has 11; it takes no part"


def test_what_just_fits_takes_part_and_no_figure_moves():
    held, unknown = compared(11.0), plain()
    assert held["options"]["fits"].all()
    assert unknown["options"]["fits"].isna().all()
    for name in ("ranks", "verdict", "break_even", "warnings"):
        pd.testing.assert_frame_equal(held[name], unknown[name])


NEEDS = {"a": Need(Needs(gpu_memory_gib=12.0)), "b": Need(Needs())}


def rows(*pairs, **more):
    """Workload and machine of each row: small ones of 11 GiB, large ones of 12, others of which it is not known."""
    listed = pd.DataFrame(list(pairs), columns=["workload", "instance"], index=range(len(pairs), 0, -1))
    known = replace(settings(), gpu_memory_gib={"small": 11.0, "large": 12.0})
    return with_fits(listed.assign(**{"gpus": 1} | more), known, NEEDS), known


def test_what_is_not_known_takes_part_and_what_does_not_fit_is_said_once():
    made, known = rows(("a", "small"), ("a", "large"), ("a", "unknown"), ("b", "small"), ("c", "small"))
    assert [None if pd.isna(one) else one for one in made["fits"]] == [False, True, None, None, None]
    stay, out = apart(made)
    assert (stay["instance"].tolist(), out["instance"].tolist()) == (["large", "unknown", "small", "small"], ["small"])
    assert list(stay) == list(made) and stay.index.tolist() == [0, 1, 2, 3]
    assert rows(("a", "small"), gpus=pd.NA)[0]["fits"].isna().all()
    plans = made.rename(columns={"workload": "plan"})
    assert fitting_plans(plans, known, NEEDS)["instance"].tolist() == stay["instance"].tolist()
    assert fitting_plans(plans.iloc[:0], known, NEEDS).empty
    facts = {"model": "m", "batch_size": 1}
    made, _ = rows(("a", "small"), ("a", "small"), ("a", "new"), ("a", "large"), **facts)
    assert [(row[4], row[1]) for row in fit_warnings(made)] == [("does_not_fit", "small")]
