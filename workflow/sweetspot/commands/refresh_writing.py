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
from sweetspot.commands.scratch import read_text, write_texts
from sweetspot.errors import UserError
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
            before, values = read_text(file), {hit.row.place: dict(hit.values or {}) for hit in rows}
            text = with_values(before, values)
            new = _checked(text, file, old, values)
            done.append(Refreshed(file, before, text, old, new, rows, _remarks(name, old, new, instances, study)))
    return done


def write_lists(done: Sequence[Refreshed]) -> list[Path]:
    """Keep what each list was, then write what it is; returns where the old ones are. Raises UserError."""
    for refreshed in done:
        if read_text(refreshed.file) != refreshed.old_text:
            raise UserError(f"{refreshed.file}: was edited meanwhile; start again, and nothing of your edit is lost")
    kept = {place_for(one.file.parent, one.file.stem, one.old, one.old_text): one.old_text for one in done}
    write_texts(Path(), kept)
    write_texts(Path(), {one.file: one.text for one in done})
    return list(kept)


def _checked(text: str, file: Path, old: PriceList, values: Mapping[int, Mapping[str, Any]]) -> PriceList:
    """The list that the text holds. Raises UserError where it is not the old one with the new values."""
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder), {file.name: text})
        new = load_price_list(Path(folder) / file.name)
    meant: dict[str, Any] = old.model_dump()
    for place, changes in values.items():
        for name, value in changes.items():
            *within, key = name.split(".")
            offer = meant["offers"][place]
            (offer[within[0]] if within else offer)[key] = value
    if PriceList.model_validate(meant) != new:
        raise UserError(f"{file}: cannot be edited as it is written; expected an offer as in docs/prices.md")
    return new


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
