"""Which key or name was meant: by the place in a file, by what is missing there, and by kinds of slips."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, RootModel
from sweetspot.study.spelling import near, nearest, slipped


class Part(BaseModel):
    months: int
    month: int = 1


class Rented(BaseModel):
    kind: Literal["rent"]
    per_hour: float = 1.0


class Bought(BaseModel):
    kind: Literal["buy"]
    capex: float = 1.0


class Named(RootModel[dict[str, Part]]):
    pass


class Whole(BaseModel):
    listed: list[Part]
    paired: tuple[Part, ...] = ()
    by_name: dict[str, Part]
    by_year: dict[int, Rented]
    either: Part | None = None
    named: Named
    offer: Annotated[Rented | Bought, Field(discriminator="kind")]


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        (("lisetd",), "listed"),
        (("xyz",), None),
        (("listed", 0, "mnths"), "months"),
        (("paired", 1, "mnths"), "months"),
        (("by_name", "a", "mnths"), "months"),
        (("by_year", 2024, "per_huor"), "per_hour"),
        (("either", "mnths"), "months"),
        (("named", "a", "mnths"), "months"),
        (("offer", "rent", "per_huor"), "per_hour"),
        (("offer", "buy", "capx"), "capex"),
        (("offer", "buy", "per_huor"), None),  # of the other kind
        (("nowhere", "mnths"), None),
    ],
)
def test_a_key_is_meant_of_its_own_place(location, meant):
    assert nearest(Whole, location, []) == meant


@pytest.mark.parametrize(
    ("missing", "meant"),
    [
        ([], "month"),  # `mnth` is nearer to it
        ([("listed", 0, "months")], "months"),
        ([("listed", 1, "months")], "month"),  # of another entry
        ([("months",)], "month"),  # of another place
        ([("listed", 0, "capex")], "month"),  # not like it
    ],
)
def test_what_is_missing_at_its_place_is_meant_before_what_is_nearer(missing, meant):
    assert nearest(Whole, ("listed", 0, "mnth"), missing) == meant


@pytest.mark.parametrize(("wrong", "name"), [("capx", "capex"), ("capxe", "capex"), ("note", None), ("cpx", "capex")])
def test_near_is_seven_tenths_of_difflibs_ratio(wrong, name):
    """2 x common / all letters: capx 8 of 9, cpx 6 of 8; note has 2 of 10 with months, 4 of 9 with capex at most."""
    assert near(wrong, ["months", "capex"]) == name


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ("resnet50", None),  # it is one
        ("ResNet-50", "resnet50"),
        ("resnet5O", "resnet50"),
        ("resent50", "resnet50"),
        ("resnet05", "resnet50"),
        ("rsnet50", "resnet50"),
        ("resnet5", None),  # a number less may be another network
        ("resnet51", None),
        ("resnet50d", None),
        ("resnett50", None),
        ("vg16", "vgg16"),  # five signs
        ("gtp2", None),  # of four a slip may be a name
        ("GPT_2", "gpt2"),
        ("", None),
    ],
)
def test_a_slip_is_another_case_or_sign_two_exchanged_a_letter_lost(wrong, name):
    assert slipped(wrong, ["resnet50", "vgg16", "gpt2"]) == name
