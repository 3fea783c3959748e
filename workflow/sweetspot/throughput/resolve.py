"""Throughput that nobody measured here: one's own, published, scaled, declared equivalent, or the nearest stand-in."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, weakest
from sweetspot.errors import UserError
from sweetspot.throughput.best import cell_columns
from sweetspot.throughput.published import RATE_BOUNDS, against_published, basis_of, row_warnings
from sweetspot.throughput.stand_in import ThroughputEstimate, same_device, stand_in
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import StudyCells


class Resolver:
    """Looks up evidence for one (instance, model, batch), following declarations.

    In this order: the study's own figure; the figure of the instance declared equivalent; n x the base instance's
    figure x the study's efficiency; a stand-in. A scaled figure is compared with published ones of as many devices.

    Parameters
    ----------
    question
        The study's cells.
    instances
        Machines by name.
    cells
        Rows of `published_cells`.
    pool
        Published rows with `xla` and `comparable` (bool).
    efficiency
        Rows of `read_efficiency`.
    as_of
        The study's date.

    """

    def __init__(
        self,
        question: "StudyCells",
        instances: Mapping[str, "Instance"],
        cells: pd.DataFrame,
        pool: pd.DataFrame,
        efficiency: pd.DataFrame,
        as_of: str,
    ) -> None:
        self.question, self.instances, self.pool, self.as_of = question, instances, pool, as_of
        rows = cells[cells["precision"] == question.precision]
        rows = rows[rows["framework"] == rows["instance"].map(self._framework)]
        keys = zip(rows["instance"], rows["model"], rows["batch_size"].astype(int), rows["gpus"], strict=True)
        self.published = {key: row for key, row in zip(keys, rows.itertuples(), strict=True)}
        # Of several variants the best, as in 2018.
        scales = efficiency[efficiency["precision"] == question.precision].sort_values("efficiency")
        self.efficiency = {
            (row.base_instance, row.instance, row.model, row.batch_size): row for row in scales.itertuples()
        }

    def _framework(self, name: str) -> str:
        """Return the framework that figures of an instance must be of."""
        return self.instances[name].framework or self.question.framework

    def cells(self) -> pd.DataFrame:
        """Return a row for each (instance, model, batch) of the question that published evidence reaches.

        Where the question leaves the batch to each machine, it is the largest of the machine's own figures.
        """
        rows = []
        for name in self.instances:
            for model in self.question.model:
                for batch_size in self.question.batches(model) or self._batches(name, model):
                    figure = self._figure(name, model, batch_size)
                    if figure is not None:
                        cell = cell_columns(self.question, self.instances, name, model, batch_size)
                        rows.append(cell | figure._asdict())
        return pd.DataFrame(rows, columns=list(dict.fromkeys([*CELL_COLUMNS, "gpu", *ThroughputEstimate._fields])))

    def _batches(self, name: str, model: str, visited: tuple[str, ...] = ()) -> list[int]:
        """Return the largest batch of an instance's figures, its own or by declaration, as a list; [] without any."""
        instance = self.instances[name]
        batches = [
            batch
            for key, network, batch, gpus in self.published
            if (key, network, gpus) == (name, model, instance.gpus)
        ]
        base = instance.equivalent_to or instance.base_instance
        if batches or base is None or name in visited:
            return [max(batches)] if batches else []
        return self._batches(base, model, (*visited, name))

    def _figure(
        self, name: str, model: str, batch_size: int, visited: tuple[str, ...] = ()
    ) -> ThroughputEstimate | None:
        instance = self.instances[name]
        if name in visited:
            raise UserError(f"instances: {' -> '.join((*visited, name))} declare each other; name one with figures")
        row = self.published.get((name, model, batch_size, instance.gpus))
        if row is not None:
            bounds: dict[str, Any] = {column: getattr(row, column, math.nan) for column in RATE_BOUNDS}
            evidence = basis_of(row.benchmark), row.source, row_warnings(row), bool(row.xla)
            return ThroughputEstimate(row.images_per_s, row.variant, *evidence, **bounds)
        if instance.equivalent_to is not None:
            equal = self._figure(instance.equivalent_to, model, batch_size, (*visited, name))
            if equal is None:
                return None
            source = f"{name} declared equivalent to {instance.equivalent_to} ; {equal.source}"
            return equal._replace(basis=weakest("equivalent", equal.basis), source=source)
        if instance.base_instance is not None:
            return self._scaled(name, instance, model, batch_size, visited)
        # Several devices are joined in one way or another: only figures of the very machine stand in for them.
        pool = self.pool[self.pool["gpus"] == instance.gpus]
        pool = pool if instance.gpus == 1 else pool[pool["instance"] == name]
        return stand_in(pool, instance.gpu, model, batch_size, self.question, self.as_of)

    def _scaled(
        self, name: str, instance: "Instance", model: str, batch_size: int, visited: tuple[str, ...]
    ) -> ThroughputEstimate | None:
        single = str(instance.base_instance)
        base = self._figure(single, model, batch_size, (*visited, name))
        row = self.efficiency.get((single, name, model, batch_size))
        if base is None or row is None or self._framework(name) != self._framework(single):
            return None  # figures of two frameworks are never a pair
        source = f"{row.gpus} x {single} x {row.efficiency:g} ({row.source}) ; {base.source}"
        rates = {name: row.gpus * getattr(base, name) * row.efficiency for name in ("images_per_s", *RATE_BOUNDS)}
        basis = weakest("scaled", base.basis)
        scaled = base._replace(**rates, variant=row.variant, basis=basis, source=source)
        return scaled._replace(warnings=joined(base.warnings, self._gap(scaled, instance, row.gpus, model)))

    def _gap(self, figure: ThroughputEstimate, instance: "Instance", gpus: int, model: str) -> list[dict[str, str]]:
        """Compare a scaled figure with published ones of as many such devices, in the precision of its base."""
        pool = self.pool
        comparable = pool[
            pool["comparable"]
            & (pool["gpus"] == gpus)
            & (pool["model"] == model)
            & same_device(pool["gpu"], instance.gpu)
            & (pool["framework"] == (figure.stand_in_framework or instance.framework or self.question.framework))
            & (pool["precision"] == (figure.stand_in_precision or self.question.precision))
            & (pool["xla"] == figure.xla)
        ]
        devices = f"{gpus} x {instance.gpu}"
        return against_published(figure.images_per_s, devices, comparable["images_per_s"], comparable["batch_size"])
