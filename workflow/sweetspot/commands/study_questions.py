"""Ten questions whose answers are a study: what one has, how fast, how much work, offers, money, limits, name.

Each has a default (Enter) and may be answered by "don't know": the default with an interval twice as far, or nothing.
An answer that cannot be read is asked again at a terminal; from a pipe it ends the form, as the end of the input does.
"""

import re
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import NamedTuple, TypeVar

from sweetspot.cells import SLUG, is_slug
from sweetspot.commands.offer_files import known_device
from sweetspot.commands.offer_line import (
    AMOUNT,
    BOUNDS,
    DECIMAL_COMMA,
    NUMBER,
    SIGNS,
    Offered,
    Range,
    as_range,
    check_magnitudes,
    read_line,
)
from sweetspot.commands.study_of_today import checked_money
from sweetspot.errors import UserError
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import network_name
from sweetspot.transfer.specifications import Device

T = TypeVar("T")
UNKNOWN = re.compile(r"(i )?(don'?t|do not|dont) know( it)?|no idea|\?", re.IGNORECASE)
NONE = ("none", "nothing", "no", "-")
KW = BOUNDS["kw"]
WIDE = 2.0  # how many times as much or little what nobody knows may be
HAVE = re.compile(rf"(?:(\d+)\s*[x×*]?\s+)?(\S[^,]*?)(?:,\s*{AMOUNT}\s*kW(?:\s+each)?)?", re.IGNORECASE)
A_SECOND = r"\s*(?:samples|images|sequences)?(?:\s*(?:/|a |per )\s*s(?:econd)?)?"
SPEED = re.compile(rf"(?P<model>{SLUG})(?:\s+at\s+{AMOUNT}{A_SECOND}(?:\s+on\s+(?P<gpu>.+))?)?", re.IGNORECASE)
ON = r"(?:\s+on\s+(?:one device|(?P<devices>\d+) devices?))?"
WORK = re.compile(rf"{AMOUNT}\s+jobs?\s+of\s+{NUMBER}\s*(?P<unit>samples|hours|h){ON}", re.IGNORECASE)
URGENT = re.compile(rf"{AMOUNT}\s+within\s+{NUMBER}\s*(?:hours|h)", re.IGNORECASE)
CURRENCY = re.compile(rf"([A-Za-z]{{3}})(?:\s+at\s+{NUMBER}\s*(?:USD)?)?")
KWH = re.compile(rf"(?!.*{DECIMAL_COMMA.pattern}){AMOUNT}(?:\s+[A-Za-z€$£]+)?")
MONTHS = re.compile(rf"{NUMBER}(?:\s*(month|year)s?)?", re.IGNORECASE)
LIMITS = {
    "at_most_up_front": re.compile(rf"(?:at most\s+)?{NUMBER}\s*(?:[A-Za-z]{{3}}\s+)?up\s?front", re.IGNORECASE),
    "at_most_a_month": re.compile(rf"(?:at most\s+)?{NUMBER}\s*(?:[A-Za-z]{{3}}\s+)?(?:a|per)\s+month", re.IGNORECASE),
    "mean_wait_at_most": re.compile(
        rf"(?:wait\s+)?(?:at most\s+)?{NUMBER}\s*h(?:ours)?(?:\s+of)?(?:\s+wait(?:ing)?)?", re.IGNORECASE
    ),
}


class Speed(NamedTuple):
    """What is trained and how fast: samples a second of one device; None: by what is published of the network."""

    model: str
    rate: Range | None = None
    gpu: str | None = None
    known: bool = True


class Have(NamedTuple):
    """Machines of one device that are there, and what one draws; None: not said."""

    machines: int
    device: Device
    kw: Range | None


class Jobs(NamedTuple):
    """Jobs a month, each so many `samples` or `hours` on so many devices."""

    per_month: Range
    size: float
    unit: str
    devices: int


class Answers(NamedTuple):
    """What was answered."""

    have: Have | None
    speed: Speed
    jobs: Jobs
    urgent: tuple[Range, float] | None
    offers: list[tuple[str, Offered]]
    currency: tuple[str, float | None]
    per_kwh: Range
    limits: dict[str, float]
    months: Range
    name: str


class Form:
    """Asks on stdout and reads lines of stdin."""

    def __init__(self) -> None:
        self.number = 0

    def ask(self, words: str, default: str, read: Callable[[str], T], unknown: Callable[[], T] | None = None) -> T:
        """The answer as `read` gives it; `unknown`: of "don't know", where that is not the default's.

        Raises UserError at the end of the input, and from a pipe for what cannot be read.
        """
        self.number += 1
        while True:
            typed = self._line(f"{self.number}. {words} [{default}] ")
            try:
                if not UNKNOWN.fullmatch(typed):
                    return read(typed or default)
                return unknown() if unknown is not None else read(default)
            except UserError as error:
                if not sys.stdin.isatty():
                    raise UserError(f"question {self.number} ({typed!r}): {error}; nothing is written") from None
                print(f"   {error}")

    def _line(self, prompt: str) -> str:
        print(prompt, end="", flush=True)
        typed = ""
        with suppress(KeyboardInterrupt):
            typed = sys.stdin.readline()
        if not typed:
            print()
            raise UserError(f"the answers end at question {self.number}; nothing is written")
        if not sys.stdin.isatty():
            print(typed.strip())
        return typed.strip()


def ask_all(there: str | None, name: str, networks: Collection[str], taken: Collection[str]) -> Answers:
    """The ten questions. there: the GPU of this machine, if any; name: of the study, where nobody says another.

    networks: of which a speed is published, by `figures.network_name`; taken: names of studies that there are.
    """
    ask = (form := Form()).ask
    have = ask(
        "What do you have? (such as 2 x RTX 3090, 0.45 kW each; or nothing)",
        f"1 x {there}" if there else "nothing", _have,
    )  # fmt: skip
    speed = ask(
        "What do you train, how many samples a second? (such as resnet50 at 905 on RTX 3090, or a name alone)",
        "resnet50", lambda typed: _speed(typed, have, networks), lambda: Speed("resnet50", known=False),
    )  # fmt: skip
    jobs = ask(
        "How much work is it a month? (25 jobs of 30 hours on one device, or 25 jobs of 1e8 samples on 2 devices)",
        "20 (10 to 30) jobs of 30 hours", _jobs, lambda: Jobs(wide(20), 30, "hours", 1),
    )  # fmt: skip
    urgent = ask(
        "How many of these are urgent? (such as 1 within 24 hours)",
        "none", lambda typed: _urgent(typed, jobs), lambda: (wide(min(1.0, jobs.per_month.value)), 24.0),
    )  # fmt: skip
    offers = _offers(form)
    currency = ask(
        "In which currency do you reckon? (USD, EUR, or such as CHF at 1.25)",
        offers[0][1].currency or "USD" if offers else "USD", lambda typed: _currency(typed, offers),
    )  # fmt: skip
    per_kwh = ask("What does a kWh cost?", "0.30 (0.25 to 0.35)", _per_kwh, lambda: wide(0.30))
    limits = ask("What are the limits? (30000 up front, 2000 a month, 8 hours of waiting)", "none", _limits)
    months = ask("Over how many months?", "36", _months, lambda: wide(36))
    name = ask("Its name?", name, lambda typed: _name(typed, taken))
    return Answers(have, speed, jobs, urgent, offers, currency, per_kwh, limits, months, name)


def wide(value: float) -> Range:
    """What nobody knows: half to twice as much."""
    return Range(value, value / WIDE, value * WIDE)


def _found(pattern: re.Pattern[str], typed: str, expected: str) -> re.Match[str]:
    found = pattern.fullmatch(typed)
    if found is None:
        raise UserError(f"found {typed!r}; expected {expected}")
    return found


def _have(typed: str) -> Have | None:
    if typed.lower() in NONE:
        return None
    found = HAVE.fullmatch(typed)
    if found is None or not 1 <= (count := int(found[1] or 1)) <= 64:
        raise UserError(f"found {typed!r}; expected such as 2 x RTX 3090, with 1 to 64 of them")
    kw = as_range(*found.groups()[2:5]) if found[3] else None
    if kw is not None and not KW.holds(kw.value):
        raise UserError(f"found {kw.value:g} kW for one {found[2]}; expected {KW.low:g} to {KW.high:g}")
    return Have(count, known_device(found[2]), kw)


def _speed(typed: str, have: Have | None, networks: Collection[str]) -> Speed:
    found = _found(SPEED, typed, "such as resnet50, or resnet50 at 905 on RTX 3090")
    if found[2] is None:
        if network_name(found["model"]) not in networks:
            raise UserError(f"no speed of {typed!r} is published; say it as {typed} at 905 on RTX 3090")
        return Speed(found["model"])
    rate = as_range(*found.groups()[1:4])
    if not RATES[0] <= rate.value <= RATES[1]:
        raise UserError(f"found {rate.value:g} samples a second; expected {RATES[0]:g} to {RATES[1]:g}")
    gpu = known_device(found["gpu"]).gpu if found["gpu"] else None
    if gpu is None and have is None:
        raise UserError("the device that it was timed on is missing; expected such as resnet50 at 905 on RTX 3090")
    return Speed(found["model"], rate, gpu)


def _jobs(typed: str) -> Jobs:
    found = WORK.fullmatch(re.sub(r"(\d)e(\d+)\b", lambda part: part[1] + "0" * int(part[2][:2]), typed))
    if found is None or (size := _number(found[4])) <= 0:
        raise UserError(f"found {typed!r}; expected such as 25 jobs of 30 hours, or 25 (18 to 33) jobs of 1e8 samples")
    unit = "samples" if found["unit"].lower() == "samples" else "hours"
    devices = int(found["devices"] or 1)
    if unit == "hours" and devices > 1:
        raise UserError("hours are those on one device; say samples of a job that takes several")
    return Jobs(_positive(as_range(*found.groups()[:3])), size, unit, devices)


def _urgent(typed: str, jobs: Jobs) -> tuple[Range, float] | None:
    if typed.lower() in NONE:
        return None
    found = _found(URGENT, typed, "such as 1 within 24 hours, or none")
    number, most = _positive(as_range(*found.groups()[:3])), jobs.per_month.value
    if number.value > most:
        raise UserError(f"found {number.value:g} urgent jobs of {most:g} a month; expected at most these")
    return number, float(found[4])


def _offers(form: Form) -> list[tuple[str, Offered]]:
    found: list[tuple[str, Offered]] = []

    def read(typed: str) -> bool:
        if typed.lower() in NONE:
            return False
        offered = read_line(typed)
        known_device(offered.gpu)
        check_magnitudes(offered, 1.0)  # of which currency a unit is hardly matters to these bounds
        found.append((typed, offered))
        return True

    more = form.ask("Which offers are on your desk? (box: 4 x RTX 5090, 21900 EUR, 2.1 kW; one a line)", "none", read)
    while more:
        form.number -= 1
        more = form.ask("Another offer?", "none", read)
    return found


def _currency(typed: str, offers: list[tuple[str, Offered]]) -> tuple[str, float | None]:
    found = _found(CURRENCY, SIGNS.get(typed, typed), "three letters, such as EUR, or CHF at 1.25")
    money = checked_money(found[1], None if found[2] is None else float(found[2]))
    other = next((offer.currency for _, offer in offers if offer.currency not in ("USD", money[0])), None)
    if other is not None:
        raise UserError(f"an offer is in {other}; expected {other}: of further currencies the study has no rate")
    return money


def _per_kwh(typed: str) -> Range:
    return as_range(*_found(KWH, typed, "a number such as 0.30, or 0.30 (0.25 to 0.35)").groups()[:3])


def _limits(typed: str) -> dict[str, float]:
    if typed.lower() in NONE:
        return {}
    limits: dict[str, float] = {}
    for part in re.split(r",(?!\d{3}(?!\d))\s*|\s+and\s+", typed):
        found = {
            name: _number(told[1]) for name, pattern in LIMITS.items() if (told := pattern.fullmatch(part.strip()))
        }
        if not found:
            raise UserError(f"found {part!r}; expected such as 30000 up front, 2000 a month, 8 hours of waiting")
        limits |= found
    return limits


def _months(typed: str) -> Range:
    found = MONTHS.fullmatch(typed)
    months = _number(found[1]) * (12 if (found[2] or "").lower() == "year" else 1) if found else 0
    if not 1 <= months <= 120:
        raise UserError(f"found {typed!r}; expected 1 to 120 months")
    return Range(months)


def _name(typed: str, taken: Collection[str]) -> str:
    if typed in taken:
        raise UserError(f"{typed}: the study exists; choose another name")
    if not is_slug(typed):
        raise UserError(f"found {typed!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    return typed


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _positive(number: Range) -> Range:
    if min(end for end in number if end is not None) <= 0:
        raise UserError(f"found {number.value:g}; expected a number above 0")
    return number
