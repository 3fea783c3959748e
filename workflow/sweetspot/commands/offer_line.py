"""An offer as a person says it in one line: its parts, read and held against what such offers cost and draw.

box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 months, in 6 weeks
contract at Nebius: 8 x H100 SXM, 2.10 EUR an hour, 12 months
rental at RunPod: 1 x RTX 5090, 0.99 USD an hour
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from sweetspot.bills.lint.rules import BOUNDS
from sweetspot.errors import UserError
from sweetspot.study.instances import Interconnect
from sweetspot.study.spelling import near
from sweetspot.study.trends import CurveName

BOX, CONTRACT, RENTAL = "box", "contract", "rental"
KINDS = {name: BOX for name in (BOX, "workstation", "server")} | {CONTRACT: CONTRACT, RENTAL: RENTAL, "rent": RENTAL}
SIGNS = {"€": "EUR", "$": "USD", "£": "GBP"}
FORM = "box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 months, in 6 weeks"
HEAD = re.compile(
    r"(?P<kind>\w+)\s*(?:'(?P<one>[^']*)'|\"(?P<two>[^\"]*)\")?\s*(?:(?:at|from)\s+(?P<provider>[^:]+?))?"
)
APART = re.compile(r",(?!\d{3}(?!\d))")  # but not the comma of 21,900
DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}(?!\d)")
NUMBER = r"(\d[\d,]*(?:\.\d+)?|\.\d+)"
AMOUNT = rf"{NUMBER}(?:\s*\(\s*{NUMBER}\s*(?:to|-|–)\s*{NUMBER}\s*\))?"
MONEY = rf"(?:([€$£])\s*)?{AMOUNT}\s*([A-Za-z]{{3}}\b|[€$£])?"
UNITS = {"": "price", "hour": "per_hour", "h": "per_hour", "hr": "per_hour", "month": "per_month"}
UNITS |= {"kwh": "per_kwh", "upfront": "upfront"}
PER = r"\s*(?:an?|per|/)\s*"


class Range(NamedTuple):
    """A number with its ends, where it has any."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> "Range":
        """The number and its ends, multiplied."""
        return Range(*(None if end is None else float(f"{end * factor:.6g}") for end in self))  # type: ignore[arg-type]

    def written(self) -> Any:
        """As a file of a study says it."""
        ends = {name: _plain(end) for name, end in zip(("low", "high"), self[1:], strict=True) if end is not None}
        return {"value": _plain(self.value), **ends} if ends else _plain(self.value)


class Offered(NamedTuple):
    """An offer as it was said. `price`: of a box in all, else `per_hour` or `per_month`; all of the whole machine.

    resale: what it sells for, or a curve with the share of the price that it is of; None: not said.
    """

    kind: str
    gpu: str
    devices: int
    title: str | None = None
    provider: str | None = None
    currency: str = ""
    price: Range | None = None
    per_hour: Range | None = None
    per_month: Range | None = None
    upfront: Range | None = None
    per_kwh: Range | None = None
    kw: Range | None = None
    months: Range | None = None
    weeks: Range | None = None
    days_per_month: Range | None = None
    resale: Range | tuple[str, float] | None = None
    interconnect: str | None = None


def read_line(line: str) -> Offered:
    """The offer of one line. Raises UserError for what cannot be read, is missing or is of another magnitude."""
    head, colon, rest = line.partition(":")
    decimal = DECIMAL_COMMA.search(rest)
    if decimal is not None:
        raise UserError(f"{decimal[0]!r}: a decimal has a point, such as 2.1, and a space stands after a comma")
    found = HEAD.fullmatch(head.strip())
    if found is None or not colon:
        raise UserError(f"the offer is {line!r}; expected such as {FORM!r}")
    kind = found["kind"].lower()
    if kind not in KINDS:
        meant = near(kind, KINDS)
        hint = f"did you mean {meant!r}?" if meant else f"expected one of {', '.join(KINDS)}"
        raise UserError(f"the offer begins with {found['kind']!r}; {hint}")
    title, provider = found["one"] or found["two"], found["provider"]
    return read_parts(KINDS[kind], APART.split(rest), title, provider and provider.strip())


def read_parts(kind: str, parts: list[str], title: str | None, provider: str | None) -> Offered:
    """The offer of its parts, each as it stands between two commas of a line. Raises UserError."""
    known: dict[str, Any] = {"kind": kind, "title": title, "provider": provider}
    for part in filter(None, (part.strip() for part in parts)):
        for name, value in _read(part, kind).items():
            if known.get(name, value) != value or (name in known and name != "currency"):
                raise UserError(f"{part!r}: {name} is said twice; expected once")
            known[name] = value
    if "gpu" not in known:
        raise UserError(f"the offer names no device; expected such as '4 x RTX 5090', as in {FORM!r}")
    offered = Offered(**known)
    _require_price(offered)
    return offered


def _read(part: str, kind: str) -> dict[str, Any]:
    for pattern, read in PARTS:
        found = re.fullmatch(pattern, part, re.IGNORECASE)
        if found is not None:
            return read(found, kind)
    raise UserError(f"{part!r} is no part of an offer; expected such as {FORM!r}")


def _devices(found: re.Match[str], kind: str) -> dict[str, Any]:
    return {"devices": int(found[1]), "gpu": found[2].strip()}


def _money(found: re.Match[str], kind: str) -> dict[str, Any]:
    sign, *numbers, currency, unit = found.groups()
    code = currency or sign
    if code is None:
        raise UserError(f"{found[0]!r}: the currency is missing; expected such as {found[0]} EUR")
    name = UNITS[re.sub(r"\s", "", (unit or "").lower())]
    if name == "price" and kind != BOX:
        raise UserError(f"{found[0]!r}: of what is the price? expected an hour or a month of it for a {kind}")
    return {name: as_range(*numbers), "currency": SIGNS.get(code, code.upper())}


def _curve(found: re.Match[str], kind: str) -> dict[str, Any]:
    share = float(found[2]) / (100 if found[3] else 1)
    if not 0 < share <= 1:
        raise UserError(f"{found[0]!r}: expected the devices' share of the price, above 0 and at most 1, or in %")
    return {"resale": (found[1].lower(), share)}


def _sum_of_resale(found: re.Match[str], kind: str) -> dict[str, Any]:
    said = _money(found, BOX)
    return {"resale": said["price"], "currency": said["currency"]}


def _said(name: str, factors: dict[str, float]) -> Callable[[re.Match[str], str], dict[str, Any]]:
    def read(found: re.Match[str], kind: str) -> dict[str, Any]:
        *numbers, unit = found.groups()
        return {name: as_range(*numbers).times(factors[unit.lower()])}

    return read


PARTS: tuple[tuple[str, Callable[[re.Match[str], str], dict[str, Any]]], ...] = (
    (r"(\d+)\s*[x×*]\s*(.+)", _devices),
    (rf"resale\s+({'|'.join(get_args(CurveName))})\s+([\d.]+)\s*(%?)", _curve),
    (rf"resale\s+{MONEY}()", _sum_of_resale),
    (rf"in\s+{AMOUNT}\s*(week|day|month)s?", _said("weeks", {"week": 1.0, "day": 1 / 7, "month": 30.5 / 7})),
    (rf"{AMOUNT}\s*(kW|W)", _said("kw", {"kw": 1.0, "w": 0.001})),
    (rf"{AMOUNT}\s*(month|year)s?", _said("months", {"month": 1.0, "year": 12.0})),
    (rf"{AMOUNT}\s*(days){PER}month", _said("days_per_month", {"days": 1.0})),
    (rf"{MONEY}(?:{PER}|\s+)?(hour|hr|h|month|kWh|up\s?front)?", _money),
    (r"(" + "|".join(get_args(Interconnect)) + ")", lambda found, kind: {"interconnect": found[1].lower()}),
)
"""How a part may be written, and what reads it; the first that fits counts."""


def as_range(value: str, low: str | None, high: str | None) -> Range:
    """The number that the groups of AMOUNT hold."""
    return Range(*(None if end is None else float(end.replace(",", "")) for end in (value, low, high)))  # type: ignore[arg-type]


def _require_price(offered: Offered) -> None:
    hourly, monthly, term = offered.per_hour, offered.per_month, offered.months
    if offered.kind == BOX and (offered.price is None or hourly is not None or monthly is not None):
        raise UserError("a box has one price, such as 21900 EUR; what is paid by the hour or month is a contract")
    if offered.kind == BOX and offered.kw is None:
        raise UserError("the power of the box is missing; add such as 2.1 kW, measured or by the data sheets")
    if offered.kind == CONTRACT and (term is None or not (hourly or monthly or offered.upfront)):
        raise UserError("a contract has a price and a term; expected such as 1.79 EUR an hour, 12 months")
    if offered.kind == RENTAL and (hourly is None or monthly is not None or term is not None):
        raise UserError("a rental has a price an hour and no term; expected such as 0.99 USD an hour")
    if offered.kind == RENTAL and offered.weeks:
        raise UserError("a rental is there at once; leave the weeks out, or call it a contract with its term")
    if offered.kind != BOX and any((offered.kw, offered.per_kwh, offered.resale)):
        raise UserError(f"the electricity and the resale of a {offered.kind} are its owner's; leave them out")


def check_magnitudes(offered: Offered, usd_per_unit: float) -> None:
    """Raises UserError where a figure is so far off that its unit was mixed up: with the factor, where one fits."""
    for name, bounds in BOUNDS.items():
        given: Range | None = getattr(offered, name)
        if given is None:
            continue
        money = name.startswith(("price", "per_"))
        shared = offered.devices if name in ("kw", "price", "per_hour", "per_month") else 1
        scale = (usd_per_unit if money else 1.0) / shared
        for end in filter(None, (given.value, given.low, given.high)):
            if not bounds.holds(end * scale):
                words = " ".join(filter(None, (f"{end:,.10g}", offered.currency if money else "", bounds.unit)))
                of = f" for {offered.devices} x {offered.gpu}" if shared > 1 else ""
                raise UserError(f"{words}{of} cannot be: {bounds.meant(end, scale)}")


def _plain(number: float) -> float | int:
    return int(number) if number == int(number) else number
