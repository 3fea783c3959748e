"""Throughput that nobody measured here: one's own, published, scaled, declared equivalent, or the nearest stand-in."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from sweetspot.cells import weakest
from sweetspot.study.instances import Instance
from sweetspot.study.study import StudyCells
from sweetspot.throughput.best import cell_columns
from sweetspot.throughput.published import RATE_BOUNDS, against_published
from sweetspot.throughput.stand_in import ThroughputEstimate, same_device, stand_in
from sweetspot.warnings import joined


@dataclass(frozen=True)
class Resolver:
    """Finds a speed for each (machine, model, batch) of a study that nobody measured, from published figures. The
    first that exists counts: the machine's own published figure; that of the machine declared equivalent; n x the
    figure of the single-device base machine x a published scaling efficiency (compared with published ones of as many
    devices); a stand-in (the nearest published figure of the same device and model).
    """

    question: StudyCells
    instances: Mapping[str, Instance]
    cells: pd.DataFrame  # rows of `published_cells` with `basis` and `warnings`
    pool: pd.DataFrame  # published rows with `xla` and `comparable` (bool)
    efficiency: pd.DataFrame  # rows of `read_efficiency`
    as_of: str  # the study's date

    @cached_property
    def _published(self) -> dict[tuple[str, str, int], Any]:
        """Published speeds that answer directly, by (machine, model, batch per device): rows of `cells` on all devices
        of the machine, in the study's precision and the machine's framework.
        """
        rows = self.cells[self.cells["precision"] == self.question.precision]
        return {
            (row.instance, row.model, int(row.batch_size)): row
            for row in rows.itertuples()
            if row.gpus == self.instances[row.instance].gpus and row.framework == self._framework(row.instance)
        }

    @cached_property
    def _scales(self) -> dict[tuple[str, str, str, int], Any]:
        """Rows of efficiency.csv by (base machine, machine, model, batch); of several variants the most efficient."""
        rows = self.efficiency[self.efficiency["precision"] == self.question.precision].sort_values("efficiency")
        return {(row.base_instance, row.instance, row.model, row.batch_size): row for row in rows.itertuples()}

    def _framework(self, name: str) -> str:
        """Return the framework that an instance declares, else the study's."""
        return self.instances[name].framework or self.question.framework

    def table(self) -> pd.DataFrame:
        """Return the estimated speeds as a table that joins the measured ones, a row per (machine, model, batch) for
        which any evidence exists: a cell's key columns, gpu, nodes and the fields of ThroughputEstimate. Where the
        study names no batch, the largest batch of the machine's own figures is taken.
        """
        rows = [
            cell_columns(self.question, self.instances, name, model, batch_size) | figure._asdict()
            for name in self.instances
            for model in self.question.model
            for batch_size in self.question.batches(model) or self._batches(name, model)
            if (figure := self._figure(name, model, batch_size)) is not None
        ]
        return pd.DataFrame(rows)

    def _batches(self, name: str, model: str) -> list[int]:
        """Return the batch per device to estimate at if the study names none: [the largest among the published figures
        of a machine and model, else of its equivalent or base machine]; [] if nothing is published.
        """
        instance = self.instances[name]
        batches = [batch for *cell, batch in self._published if cell == [name, model]]
        base = instance.equivalent_to or instance.base_instance
        return [max(batches)] if batches else self._batches(base, model) if base else []

    def _figure(self, name: str, model: str, batch_size: int) -> ThroughputEstimate | None:
        """Return the best unmeasured estimate of a machine's speed at a batch per device, by the first source that
        exists: published, that of its declared equivalent, scaled up from its base machine, or a stand-in. Else None.
        """
        instance = self.instances[name]
        row = self._published.get((name, model, batch_size))
        if row is not None:
            fields = set(ThroughputEstimate._fields).intersection(row._fields)
            return ThroughputEstimate(**{field: getattr(row, field) for field in fields})
        if instance.equivalent_to is not None:
            equal = self._figure(instance.equivalent_to, model, batch_size)
            if equal is None:
                return None
            source = f"{name} declared equivalent to {instance.equivalent_to} ; {equal.source}"
            return equal._replace(basis=weakest("equivalent", equal.basis), source=source)
        if instance.base_instance is not None:
            base = self._figure(instance.base_instance, model, batch_size)
            return base and self._scaled(name, model, batch_size, base)
        # Several devices are joined in one way or another: only figures of the very machine stand in for them.
        pool = self.pool[self.pool["gpus"] == instance.gpus]
        pool = pool if instance.gpus == 1 else pool[pool["instance"] == name]
        return stand_in(pool, instance.gpu, model, batch_size, self.question, self.as_of)

    def _scaled(self, name: str, model: str, batch_size: int, base: ThroughputEstimate) -> ThroughputEstimate | None:
        """Estimate a multi-device machine's speed as gpus x speed of one device (`base`) x published efficiency, with
        a warning if published speeds of as many devices differ. None if none is known or frameworks differ.
        """
        instance = self.instances[name]
        single = str(instance.base_instance)
        row = self._scales.get((single, name, model, batch_size))
        if row is None or self._framework(name) != self._framework(single):
            return None  # figures of two frameworks are never a pair
        rates = {column: row.gpus * getattr(base, column) * row.efficiency for column in ("images_per_s", *RATE_BOUNDS)}
        conditions = {
            "comparable": True,
            "gpus": row.gpus,
            "model": model,
            "framework": base.stand_in_framework or self._framework(name),
            "precision": base.stand_in_precision or self.question.precision,
            "xla": base.xla,
        }
        matches = (self.pool[list(conditions)] == list(conditions.values())).all(axis=1)
        published = self.pool[matches & same_device(self.pool["gpu"], instance.gpu)]
        devices, batches = f"{row.gpus} x {instance.gpu}", published["batch_size"]
        warnings = against_published(rates["images_per_s"], devices, published["images_per_s"], batches)
        return base._replace(
            **rates,
            variant=row.variant,
            basis=weakest("scaled", base.basis),
            source=f"{row.gpus} x {single} x {row.efficiency:g} ({row.source}) ; {base.source}",
            warnings=joined(base.warnings, warnings),
        )
