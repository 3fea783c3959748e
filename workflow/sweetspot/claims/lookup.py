"""The functions of claims: look numbers up in a study's result tables and record which figures were used."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, gt, lt
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from sweetspot.cells import BASES, INTERRUPTIBLE
from sweetspot.study.claims import Selector

LOWEST_IS_BEST = ("usd", "hours")
SPEED_COLUMNS = ("hours", "images_per_s")  # They depend on the speed alone.
EVERYTHING = Selector()

Rows = Sequence[Any]  # Named tuples of one table: its columns are their attributes.


class CannotCheckError(Exception):
    """A claim cannot be checked: the result tables lack a figure that its expression needs."""


class UsedFigure(NamedTuple):
    """Origin of a figure that a claim used: kind (`price`, `speed`, ...), name of the machine, basis, source."""

    kind: str
    name: str
    basis: str
    source: str


@dataclass(frozen=True)
class Lookup:
    """The functions that claims' expressions may call on a study's result tables; records the figures they read.

    tables: rows of options, offers, costs, bills, throughput, extrapolation, efficiency, from `read_rows`.
    """

    tables: Mapping[str, Rows]
    used: list[UsedFigure] = field(default_factory=list)

    def models(self) -> list[str]:
        """Return the sorted keys of models in the table `options`, for each of which claims are checked."""
        names = sorted({row.model for row in self.tables["options"]})
        if not names:
            raise CannotCheckError("no priced figure of any model")
        return names

    def price(self, selector: Selector) -> float:
        """Return the price in USD per hour of the first row of the table `offers` that matches a selector."""
        return self.offer(selector, "usd_per_hour")

    def offer(self, selector: Selector, column: str) -> float:
        """Return the number in a column (as `usd_per_hour`) of the first row of `offers` that a claim's selector
        matches.
        """
        row = select(self.tables["offers"], selector)[0]
        self._record("price", [row])
        return _number(row, column)

    def option(self, selector: Selector, column: str, *, model: str, but: Selector | None = None) -> float:
        """Return the best number in a column of a model's matching options, such as the lowest cost on one provider.

        Parameters
        ----------
        selector, model, column, but
            The options (a machine at a price) to compare; the model that is trained; a column of the options table;
            best is the lowest of `usd` and `hours`, the highest of other columns; matching options that are left out,
            or None.
        """
        excluded = {row.option for row in self._options(but, model)} if but else set()
        row = _best([row for row in self._options(selector, model) if row.option not in excluded], column)
        self._record_options([row], column)
        return _number(row, column)

    def rank(self, selector: Selector, column: str, *, model: str, among: Selector = EVERYTHING) -> float:
        """Return the place of an option when options are ordered by a column: 1 for the best, 2 for "second cheapest".

        Parameters
        ----------
        selector, column, model, among
            The option (a machine at a price) to place (the best of several); a column of the options table (for a speed
            each instance counts once, for all its ways of paying); the model that is trained; the rivals.
        """
        row = _best(self._options(selector, model), column)
        ranked = self._options(among, model)
        self._record_options([row, *ranked], column)
        name = attrgetter("instance" if column in SPEED_COLUMNS else "option")
        is_better = lt if column in LOWEST_IS_BEST else gt
        figure = attrgetter(column)
        return 1 + len({name(rival) for rival in ranked if is_better(figure(rival), figure(row))})

    def dominated(self, selector: Selector, *, model: str, among: Selector = EVERYTHING) -> float:
        """Return how many options are neither slower nor dearer than the first matching one, and better in one of both.

        Parameters
        ----------
        selector, model, among
            The option (a machine at a price; the first of several), the model that is trained, and the options to
            count.
        """
        row = self._options(selector, model)[0]
        usd, hours = _number(row, "usd"), _number(row, "hours")
        rivals = [rival for rival in self._options(among, model) if rival.option != row.option]
        self._record_options([row, *rivals], "usd")
        better = [rival for rival in rivals if rival.usd <= usd and rival.hours <= hours]
        return len(better) - sum(rival.usd == usd and rival.hours == hours for rival in better)

    def bill(self, selector: Selector, workload: str, *, line: str | None = None, gpus: int | None = None) -> float:
        """Return the USD that a workload costs with an offer, the total or one line of the bill, to check a claim.

        Parameters
        ----------
        selector, workload, line, gpus
            The offer (with several the cheapest is taken), and the name of the workload; name of one line of the bill,
            and number of devices used (None: the total, and any number).
        """
        total = _best(select(self.tables["costs"], selector, workload=workload, gpus=gpus), "usd")
        self._record("bill", [total])
        if line is None:
            return total.usd
        lines = select(self.tables["bills"], selector, workload=workload, gpus=gpus, line=line)
        return sum(row.usd for row in lines)

    def speed(self, instance: str, *, model: str) -> float:
        """Return an instance's samples/s for a model, the fastest figure of the best basis, to check printed speeds."""
        rows = select(self.tables["throughput"], instance=instance, model=model, status="ok")
        row = min(rows, key=lambda row: (BASES.index(row.basis), -row.images_per_s))
        self._record("speed", [row])
        return row.images_per_s

    def mean_efficiency(self, model: str, batch_size: int) -> float:
        """Return the mean published scaling efficiency (1: linear) of a model at a batch size, as a claim prints it."""
        rows = select(self.tables["efficiency"], model=model, batch_size=batch_size, basis="published")
        self._record("efficiency", rows)
        return fmean(row.efficiency for row in rows)

    def extrapolated(self, instance: str, model: str, batch_size: int) -> float:
        """Return a throughput (samples/s) extrapolated by the mean efficiency; record the figures it is made of.

        Parameters
        ----------
        instance, model, batch_size
            The machine, model and batch size of the row of the table `extrapolation`, which a claim names.
        """
        cell = {"model": model, "batch_size": batch_size}
        row = select(self.tables["extrapolation"], instance=instance, method="mean_efficiency", **cell)[0]
        base = select(self.tables["throughput"], instance=row.base_instance, **cell)
        self._record("speed", base)
        self.mean_efficiency(model, batch_size)  # Records the efficiencies that are part of it.
        return row.images_per_s

    def _options(self, selector: Selector, model: str) -> Rows:
        """Return the rows of the options table of one model that match. Raises CannotCheckError for none."""
        return select(self.tables["options"], selector, model=model)

    def _record_options(self, options: Rows, column: str) -> None:
        """Note in `used` where the speeds of rows of `options` come from, and prices unless `column` is a speed's."""
        self._record("speed", options, "throughput_")
        if column not in SPEED_COLUMNS:
            key = attrgetter("price_list", "instance", "purchase")
            keys = set(map(key, options))
            self._record("price", [row for row in self.tables["offers"] if key(row) in keys])

    def _record(self, kind: str, rows: Rows, prefix: str = "") -> None:
        """Add basis and source of each row of a table to `used`; `kind`: price, speed ...; `prefix`: of its columns."""
        origin = attrgetter("instance", f"{prefix}basis", f"{prefix}source")
        self.used.extend(UsedFigure(kind, *origin(row)) for row in rows)


def read_rows(tables: Mapping[str, pd.DataFrame]) -> dict[str, Rows]:
    """Return {table: its rows as named tuples} from result tables (DataFrames), which `Lookup` searches for claims.

    Options are kept once for all workloads, if they have a throughput and fit in memory; throughput rows if they have a
    figure. The tables offers, costs, bills get a bool column `persistent`: the provider cannot stop it.
    """
    tables = dict(tables)
    options = tables["options"]
    options = options[(options["images_per_s"] > 0) & ~options["fits"].isin([False])]
    tables["options"] = options.drop_duplicates(["model", "option"])
    tables["throughput"] = tables["throughput"].dropna(subset="images_per_s")
    for name in ("offers", "costs", "bills"):
        tables[name] = tables[name].assign(persistent=~tables[name]["purchase"].isin(INTERRUPTIBLE))
    texts = dict.fromkeys(("basis", "source", "throughput_basis", "throughput_source"), "")
    return {
        name: list(table.fillna(texts).astype(object).fillna(math.nan).itertuples()) for name, table in tables.items()
    }


def select(rows: Rows, selector: Selector = EVERYTHING, /, **values: object) -> Rows:
    """Return the `rows` of one table whose columns equal all given values. Raises CannotCheckError if no row matches.
    `selector`: a claim's values by column; with an instance but no purchase only persistent rows are returned, if any.
    `values`: of further columns; None: any value.
    """
    keys = {name: value for name, value in (selector.model_dump() | values).items() if value is not None}
    matches = [row for row in rows if all(getattr(row, name, None) == value for name, value in keys.items())]
    if not matches:
        raise CannotCheckError("no figure of " + ", ".join(f"{name} {value}" for name, value in keys.items()))
    if selector.instance and selector.purchase is None:
        return [row for row in matches if row.persistent] or matches
    return matches


def _best(rows: Rows, column: str) -> Any:
    """Return the row that a claim means by "best" in a column: lowest of usd and hours, else highest; the first."""
    comparable = [row for row in rows if not math.isnan(getattr(row, column))]
    if not comparable:
        raise CannotCheckError(f"nothing to compare by {column}")
    return (min if column in LOWEST_IS_BEST else max)(comparable, key=attrgetter(column))


def _number(row: Any, column: str) -> float:
    """Return the number in a column of a row for a claim's arithmetic. Raises CannotCheckError if it is missing."""
    value = float(getattr(row, column))
    if math.isnan(value):
        raise CannotCheckError(f"{row.instance} has no {column}")
    return value
