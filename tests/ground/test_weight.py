"""No room grows: what tests/support/weight.py counts stays within tests/ground/ceilings.yaml, which only goes down."""

import subprocess

import pytest
from project_copy import ROOT
from weight import CEILINGS, excesses, read_ceilings, weigh, weigh_module

MODULE = '''"""A docstring
of two lines."""

from math import pi  # a comment


class KeptRows:
    """Rows."""

    size = 3


def area(radius: float, told: float, scale: float = 1.0) -> float:
    """Compute an area."""
    self.what = radius
    return pi * radius**2


def volume(radius, height, scale):
    """Compute a volume.

    Parameters
    ----------
    radius
        In metres.

    """
    return area(radius, height, scale)
'''


def test_a_module_by_hand():
    counts = weigh_module(MODULE)
    assert counts["lines"] == 28
    # from math import pi (4); class KeptRows : (3); size = 3 (3); def area ( radius : float , told : float ,
    # scale : float = 1.0 ) -> float : (20); self . what = radius (5); return pi * radius ** 2 (6);
    # def volume ( radius , height , scale ) : (10); return area ( radius , height , scale ) (9).
    assert counts["tokens"] == 4 + 3 + 3 + 20 + 5 + 6 + 10 + 9
    assert counts["odd_identifiers"] == 3  # KeptRows, told, what
    assert counts["functions_without_sections"] == 1  # area


def test_what_is_above_its_ceiling_or_has_none_is_named():
    ceilings = {"library": {"bills": {"lines": 10, "tokens": 70}}}
    weights = {"library": {"bills": {"lines": 10, "tokens": 71}, "attic": {"lines": 1}}}
    assert excesses(weights, ceilings) == [
        "library bills: tokens is 71; expected at most 70", "library attic: lines is 1; expected at most 0"
    ]  # fmt: skip


def test_no_room_is_above_its_ceiling():
    assert excesses(weigh(ROOT), read_ceilings(CEILINGS.read_text(encoding="utf-8"))) == []


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def test_no_commit_raises_a_ceiling():
    """Against the version before the last change of the file, where Git has it."""
    name = str(CEILINGS.relative_to(ROOT))
    text = CEILINGS.read_text(encoding="utf-8")
    last_change = git("log", "-n", "1", "--format=%H", "--", name).strip()
    is_committed = last_change and git("show", f"HEAD:{name}") == text
    earlier = git("show", f"{last_change}^:{name}" if is_committed else f"HEAD:{name}")
    if not earlier:
        pytest.skip("no earlier version of the ceilings is here")
    before = read_ceilings(earlier)
    now = {
        part: {room: row for room, row in rows.items() if room in before[part]}
        for part, rows in read_ceilings(text).items()
    }
    assert excesses(now, before) == []  # a new room has no ceiling to raise; the total has
