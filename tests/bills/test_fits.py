"""Options whose devices cannot hold the workload take no part, and say so."""

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from decision_tables import BOX, RENTED, inputs, settings
from sweetspot.decision.compare import compare
from sweetspot.errors import UserError
from sweetspot.study.memory import Needs
from sweetspot.study.needs import Need

MEMORY = {BOX: 11.0, RENTED: 16.0}


@cache
def compared(gib, others=(), known=(BOX, RENTED), **more):
    needs = {"imagenet": Need(Needs(gpu_memory_gib=gib))} | {name: Need(Needs()) for name in others}
    memory = {name: MEMORY[name] for name in known}
    return compare(inputs(), replace(settings(**more), gpu_memory_gib=memory), draws=100, needs=needs)


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
    for name in ("ranks", "pairs", "frontier", "break_even", "tornado", "choices", "worth_knowing", "verdict"):
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
    for name in ("ranks", "verdict", "pairs", "break_even", "warnings"):
        pd.testing.assert_frame_equal(held[name], unknown[name])


def test_a_reference_that_does_not_fit_is_one_sentence():
    with pytest.raises(UserError) as told:
        compared(12.0)
    assert str(told.value) == (
        "study paper: reference 'office-4x1080ti' has devices of 11 GiB; expected 12 GiB or more, which workload "
        "imagenet needs on each"
    )


def test_a_transferred_figure_does_not_prove_that_the_workload_fits():
    needs = {"imagenet": Need(Needs())}
    known, told = inputs(), inputs()
    for table in (told.throughput, told.costs):
        table["basis"] = "transferred"
    rules = [set(compare(one, settings(), draws=100, needs=needs)["warnings"]["rule"]) for one in (known, told)]
    # a study that states no need is not warned of
    assert not rules[0] & {"does_not_fit", "unknown_memory_need", "unknown_gpu_memory"}
    assert "unknown_memory_need" in rules[1]


def test_an_unknown_need_and_an_unknown_device_are_named_and_the_rest_goes_on():
    found = compared(12.0, others=("search",), known=(RENTED,))
    rules = found["warnings"].set_index("rule")
    assert rules.loc["unknown_memory_need", "message"].startswith("workload search does not state the memory")
    assert rules.loc["unknown_gpu_memory", "instance"] == BOX
    options = found["options"].set_index("instance")
    assert options.loc[[BOX], "fits"].isna().all()
    assert set(found["ranks"]["option"]) >= {BOX, RENTED}
