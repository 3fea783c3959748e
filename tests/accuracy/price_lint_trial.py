"""What the lint of prices finds of seeded damage in real lists, and what it says of the lists as they are.

    python tests/accuracy/price_lint_trial.py [PROVIDER_YEAR.csv ...] [--seed 1] [--half 0|1] [--rent prices_rent.csv]
        [--without FILE/PLACE ...]

PROVIDER_YEAR.csv: catalogues in SkyPilot's format (those of tests/data/skypilot where none is named). Each place of a
catalogue, at most `--places` of them, gives up to four lists: all machines, those with devices, those without, and a
short one of three families. `--rent`: prices of many providers in the format of prices_rent.csv, a list for each
provider and day. `--without`: places whose prices the known ones were made of (aws_2022/us-east-1). Lists fall into two
halves by a checksum of provider and place: bounds were chosen on half 0.
"""

import argparse
import csv
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from sweetspot.bills.lint.families import Finding, name_family
from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offer_rows
from sweetspot.catalogues.skypilot import read_skypilot
from sweetspot.cells import is_slug
from sweetspot.study.base import validated
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList

DATA = Path(__file__).parent.parent / "data" / "skypilot"
MONTH_DAYS, MONTH_HOURS = 30.5, 730
POUND, EURO = 0.79, 0.92  # of a USD, about 2018 and 2024
QUIET = ("spot_terms",)  # said of any spot price without an interruption rate
FAMILIES = 3
SURVEY = "survey"


class Row(NamedTuple):
    """A machine and its price: USD an hour."""

    name: str
    purchase: str
    gpu: str
    gpus: int
    vcpus: int | None
    memory_gib: float | None
    usd: float

    @property
    def family(self) -> str:
        """Machines whose prices people copy together: of one device, or of one name but for its size."""
        return self.gpu or name_family(self.name, self.vcpus, self.memory_gib)


class Listed(NamedTuple):
    """A real list: who asks, where, in which year, and the rows."""

    provider: str
    place: str
    year: int
    shape: str
    rows: tuple[Row, ...]

    @property
    def half(self) -> int:
        return zlib.crc32(f"{self.provider} {self.place}".encode()) % 2


@dataclass(frozen=True)
class Damage:
    """A damaged list, and the machines that are wrong ('' for the list as a whole)."""

    kind: str
    rows: Sequence[Row]
    wrong: frozenset[str]


def catalogued(file: Path, places: int, seed: int, without: Sequence[str] = ()) -> Iterator[Listed]:
    """Lists of some places of a catalogue in SkyPilot's format."""
    provider, year = file.stem.rsplit("_", 1)
    by_place: dict[str, dict[tuple[str, str], Row]] = defaultdict(dict)
    for entry in read_skypilot(file).listings:
        if any(f"{file.stem}/{entry.place}".startswith(place) for place in without):
            continue
        key = (entry.instance, entry.purchase)
        row = Row(*key, entry.gpu, entry.gpus or 1, entry.vcpus or None, entry.memory_gib or None, entry.per_hour)
        by_place[entry.place].setdefault(key, row)
    draw = random.Random(f"{seed} {file.name}")
    usual = max(by_place, key=lambda place: len(by_place[place]))
    others = [place for place in sorted(by_place) if place != usual]
    for place in [usual, *draw.sample(others, min(places - 1, len(others)))]:
        yield from shapes(provider, place, int(year), list(by_place[place].values()), draw)


def shapes(provider: str, place: str, year: int, rows: list[Row], draw: random.Random) -> Iterator[Listed]:
    """All machines of a place, those with devices, those without, and a short list of three families."""
    families = sorted({row.family for row in rows})
    some = set(draw.sample(families, min(FAMILIES, len(families))))
    parts = {
        "all": rows,
        "devices": [row for row in rows if row.gpu],
        "processors": [row for row in rows if not row.gpu],
        "short": [row for row in rows if row.family in some],
    }
    seen: set[int] = set()
    for shape, part in parts.items():
        if len({row.name for row in part}) > 2 and len(part) not in seen:
            seen.add(len(part))
            yield Listed(provider, place, year, shape, tuple(part))


def surveyed(file: Path) -> Iterator[Listed]:
    """Lists of a survey of prices: a list for each provider and day, on demand and spot."""
    lists: dict[tuple[str, str], dict[tuple[str, str], Row]] = defaultdict(dict)
    with file.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            usd = float(line["instance_usd_per_hour"] or 0)
            day, name = line["as_of"], re.sub(r"[^A-Za-z0-9._-]+", "-", line["instance"]).strip("-._")
            purchase = "spot" if line["tier"] == "spot" else "on_demand"
            told = line["tier"] in ("spot", "on_demand") and "SUSPECT" not in line["flag"] and day[:4].isdigit()
            if (
                told
                and is_slug(name)
                and float(line["gpus"]) % 1 == 0
                and float(line["instance_usd_per_hour"] or 0) > 0
            ):
                vcpus = int(float(line["vcpus"] or 0)) or None
                facts = (line["gpu"], int(float(line["gpus"])), vcpus, float(line["memory_gib"] or 0) or None)
                row = Row(name, purchase, *facts, usd)
                lists[line["provider"], day].setdefault((name, purchase), row)
    for (provider, day), rows in lists.items():
        if len(rows) > 2:
            name = re.sub(r"[^a-z0-9]+", "-", provider.lower()).strip("-")
            yield Listed(name, SURVEY, int(day[:4]), "devices", tuple(rows.values()))


def found_in(listed: Listed, rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    """Severity, rule and machine of what the lint says of rows."""
    rows = list(rows)
    day = date(listed.year, 6, 15)
    offers = [{"instance": row.name, "purchase": row.purchase, "per_hour": row.usd} for row in rows]
    heading = {"currency": "USD", "as_of": day, "source": "a trial"}
    prices = validated(PriceList, {**heading, "offers": offers}, "trial.yaml")
    known = {
        row.name: Instance(
            title=row.name, provider=listed.provider, gpu=row.gpu or "CPU", gpus=row.gpus, vcpus=row.vcpus,
            memory_gib=row.memory_gib,
        )
        for row in rows
    }  # fmt: skip
    made, _ = offer_rows("trial", prices, known, MONTH_DAYS)
    told: list[Finding] = lint(prices, made, known, day, MONTH_DAYS)
    return {(one.severity, one.rule, one.instance) for one in told if one.rule not in QUIET}


def scaled(rows: Sequence[Row], factor: float, which: Callable[[Row], bool], digits: int) -> list[Row]:
    """Prices times a factor, rounded as people write them."""
    return [row._replace(usd=round(row.usd * factor, digits) or row.usd) if which(row) else row for row in rows]


def damages(listed: Listed, draw: random.Random) -> Iterator[Damage]:
    """Seeded damage of a list, as people damage them."""
    rows, everything = listed.rows, frozenset([""])
    names = {"pounds": POUND, "euros": EURO, "cents": 100, "month as hour": MONTH_HOURS}
    for kind, factor in names.items():
        yield Damage(kind, scaled(rows, factor, lambda _: True, 4), everything)
    families = sorted({row.family for row in rows})
    if len(families) > 1:
        for family in draw.sample(families, min(FAMILIES, len(families))):
            members = frozenset(row.name for row in rows if row.family == family)
            kind = "family x 1.2, devices" if any(row.gpu for row in rows if row.family == family) else "family x 1.2"
            yield Damage(kind, scaled(rows, 1.2, lambda row, names=members: row.name in names, 4), members)  # type: ignore[misc]
    demand = [row for row in rows if row.purchase == "on_demand"]
    if demand:
        one = draw.choice(demand)
        yield _put(rows, one, "one month as hour", one.usd * MONTH_HOURS)
        dear = one._replace(purchase="reserved", usd=round(one.usd * 1.1, 4))
        if dear.usd > one.usd:
            yield Damage("reserved dearer", [*rows, dear], frozenset([one.name]))
    swaps = [(row, usd) for row in demand for usd in exchanges(row.usd)]
    if swaps:
        yield _put(rows, *_with(draw.choice(swaps), "digits within 2 %"))
    spot = [row for row in rows if row.purchase == "spot"]
    if spot:
        one = draw.choice(spot)
        yield _put(rows, one, "spot / 10", round(one.usd / 10, 6))


def _with(pair: tuple[Row, float], kind: str) -> tuple[Row, str, float]:
    return pair[0], kind, pair[1]


def _put(rows: Sequence[Row], one: Row, kind: str, usd: float) -> Damage:
    return Damage(kind, [row._replace(usd=usd) if row is one else row for row in rows], frozenset([one.name]))


def exchanges(usd: float) -> Iterator[float]:
    """A price with two neighbouring digits exchanged, where that changes it by at most 2 %."""
    text = f"{usd:.4f}".rstrip("0")
    for at in range(len(text) - 1):
        pair = text[at : at + 2]
        if "." not in pair and pair[0] != pair[1]:
            other = float(text[:at] + pair[::-1] + text[at + 2 :])
            if 0.001 < abs(other / usd - 1) <= 0.02:
                yield other


def judged(damage: Damage, before: set[tuple[str, str, str]], after: set[tuple[str, str, str]]) -> str:
    """`found`, `note` where only a note says so, `else` where only others are blamed, or `missed`."""
    new = after - before
    right = {severity for severity, _, name in new if name in damage.wrong or (name == "" and len(damage.wrong) != 1)}
    if "warning" in right or ({""} == damage.wrong and len(new) > len(damage.rows) / 2):
        return "found"
    return "note" if right else "else" if any(severity == "warning" for severity, _, _ in new) else "missed"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("catalogues", nargs="*", type=Path, default=sorted(DATA.glob("*_20*.csv")))
    parser.add_argument("--rent", type=Path, help="a survey of prices")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", type=int, choices=(0, 1), help="lists of this half only")
    parser.add_argument("--places", type=int, default=4, help="places of a catalogue")
    parser.add_argument("--without", nargs="*", default=[], metavar="FILE/PLACE", help="places to leave out")
    parser.add_argument("--verbose", action="store_true", help="each alarm and each miss")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    lists = [
        one for file in options.catalogues for one in catalogued(file, options.places, options.seed, options.without)
    ]
    lists += surveyed(options.rent) if options.rent else []
    for kind, some in (
        ("places of catalogues", [one for one in lists if one.place != SURVEY]),
        ("survey", [one for one in lists if one.place == SURVEY]),
    ):
        try_out(kind, [one for one in some if options.half in (None, one.half)], options)


def try_out(what: str, lists: Sequence[Listed], options: argparse.Namespace) -> None:
    """Print alarms on the lists as they are, and what is found of each damage."""
    alarms: Counter[str] = Counter()
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    loud = 0
    for number, listed in enumerate(lists):
        draw = random.Random(f"{options.seed} {number}")
        before = found_in(listed, listed.rows)
        severe = {(rule, name) for severity, rule, name in before if severity == "warning"}
        loud += bool(severe)
        alarms.update(rule for rule, _ in severe)
        if options.verbose:
            print(*listed[:4], len(listed.rows), "as it is:", sorted(severe)[:12])
        for damage in damages(listed, draw):
            outcome = judged(damage, before, found_in(listed, damage.rows))
            outcomes[damage.kind][outcome] += 1
            if options.verbose and outcome != "found":
                print(" ", damage.kind, outcome, sorted(damage.wrong)[:3])
    rows = sum(len(one.rows) for one in lists)
    told = ", ".join(f"{rule} {count}" for rule, count in sorted(alarms.items()))
    print(f"{what}: {len(lists)} lists, {rows} prices; {loud} lists as they are get a warning: {told or 'none'}")
    for kind, found in sorted(outcomes.items()):
        total = sum(found.values())
        rest = ", ".join(f"{word} {count}" for word, count in sorted(found.items()) if word != "found")
        print(f"  {kind}: {found['found']} of {total} ({found['found'] / total:.0%}) {rest}")


if __name__ == "__main__":
    main()
