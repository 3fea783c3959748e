"""The lists that a refresh changes: their new text, checked before anything is written, and what the lint says."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sweetspot.bills.lint.rules import lint
from sweetspot.bills.offers import offer_rows
from sweetspot.catalogues.price_file import with_values
from sweetspot.catalogues.refreshing import Found
from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, load_price_list, newest_day, place_for
from sweetspot.study.study import Study


@dataclass(frozen=True)
class Refreshed:
    """One price list before and after; `found`: its rows that change; `remarks`: what the lint did not say before."""

    file: Path
    old_text: str
    text: str
    old: PriceList
    new: PriceList
    found: Sequence[Found]
    remarks: Sequence[str]

    def lines(self) -> Iterator[str]:
        """The list's name, a line for each price that changes, and the lint's remarks."""
        yield f"{self.file.name}: USD an hour" if self.new.currency == "USD" else f"{self.file.name}: an hour"
        width = max(len(hit.row.name) for hit in self.found)
        for hit in self.found:
            assert hit.values is not None
            figures = f"{hit.old:>10.10g} -> {hit.new:<10.10g} {hit.change:>+8.1%}"
            yield f"  {hit.row.name:<{width}} {figures}  {hit.row.as_of} -> {hit.values['as_of']}"
        for remark in self.remarks:
            yield f"  lint: {remark}"


def changed_lists(
    folder: Path,
    prices: Mapping[str, PriceList],
    found: Sequence[Found],
    instances: Mapping[str, Instance],
    study: Study,
    confirm: bool,
) -> list[Refreshed]:
    """The lists of `folder` that have a row with another price; with `confirm` also those whose price is the same.

    Raises UserError where a new list would not be what was meant.
    """
    done = []
    for name, old in prices.items():
        rows = [hit for hit in found if hit.row.price_list == name and hit.values and (confirm or not hit.same)]
        if rows:
            file = folder / f"{name}.yaml"
            before = _read(file)
            text = with_values(before, {hit.row.place: hit.values or {} for hit in rows})
            new = _checked(text, file, old, rows)
            remarks = _remarks(name, old, new, instances, study)
            done.append(Refreshed(file, before, text, old, new, rows, remarks))
    return done


def write_lists(done: Sequence[Refreshed]) -> list[Path]:
    """Keep what each list was, then write what it is; returns where the old ones are. Raises UserError."""
    for refreshed in done:
        if _read(refreshed.file) != refreshed.old_text:
            raise UserError(f"{refreshed.file}: was edited meanwhile; start again, and nothing of your edit is lost")
    kept = []
    for refreshed in done:
        place = place_for(refreshed.file.parent, refreshed.file.stem, refreshed.old, refreshed.old_text)
        _write(place, refreshed.old_text)
        kept.append(place)
    for refreshed in done:
        _write(refreshed.file, refreshed.text)
    return kept


def _read(file: Path) -> str:
    """The text with its own line ends."""
    return file.read_bytes().decode("utf-8")


def _write(file: Path, text: str) -> None:
    with write_whole(file, lasting=True) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def _checked(text: str, file: Path, old: PriceList, rows: Sequence[Found]) -> PriceList:
    """The list that the text holds. Raises UserError where it is not the old one with the new values."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / file.name
        made.write_bytes(text.encode("utf-8"))
        new = load_price_list(made)
    values = {hit.row.place: dict(hit.values or {}) for hit in rows}
    meant: dict[str, Any] = old.model_dump()
    meant["offers"] = [_with(offer, values.get(place, {})) for place, offer in enumerate(meant["offers"])]
    if PriceList.model_validate(meant) != new:
        raise UserError(f"{file}: cannot be edited as it is written; expected an offer as in docs/prices.md")
    return new


def _with(offer: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: value for name, value in values.items() if "." not in name}
    for name, value in values.items():
        if "." in name:
            part, _, key = name.partition(".")
            made[part] = offer[part] | {key: value}
    return offer | made


def _remarks(name: str, old: PriceList, new: PriceList, instances: Mapping[str, Instance], study: Study) -> list[str]:
    """What the lint finds in the new list and did not find in the old one, at the day of the new prices."""

    def said(prices: PriceList, day: date) -> dict[tuple[str, str], str]:
        month = prices.month_days or study.month_days
        offers, _ = offer_rows(name, prices, instances, month)
        found = lint(prices, offers, instances, day, month)
        return {(finding.rule, finding.instance): f"{finding.severity}: {finding.message}" for finding in found}

    before = said(old, study.as_of)
    after = said(new, max(study.as_of, newest_day(new)))
    return [f"{words} ({rule})" for (rule, instance), words in after.items() if (rule, instance) not in before]
