"""Throughput that nobody measured here: one's own, published, scaled, declared equivalent, or the nearest stand-in."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from sweetspot.cells import CELL_COLUMNS, weakest
from sweetspot.errors import UserError
from sweetspot.throughput.best import asked_cell
from sweetspot.throughput.published import OWN_ENDS, against_published, basis_of, frameworks_of, remarks
from sweetspot.throughput.stand_in import Figure, same_device, stand_in
from sweetspot.warnings import joined

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question


class Resolver:
    """Looks evidence up for one (instance, model, batch), following declarations.

    In this order: the study's own figure; the figure of the instance declared equivalent; n x the base
    instance's figure x the study's efficiency; a stand-in (`stand_in`), judged by `as_of`, the study's date. A scaled
    figure is held against published ones of as many devices. own: `published_cells`; pool: published rows with `xla`
    and `comparable` (bool); efficiency: `read_efficiency`.
    """

    def __init__(
        self,
        question: "Question",
        instances: Mapping[str, "Instance"],
        own: pd.DataFrame,
        pool: pd.DataFrame,
        efficiency: pd.DataFrame,
        as_of: str,
    ) -> None:
        self.question, self.instances, self.pool, self.as_of = question, instances, pool, as_of
        asked = own[own["precision"] == question.precision]
        asked = asked[asked["framework"] == asked["instance"].map(self._framework)]
        keys = zip(asked["instance"], asked["model"], asked["batch_size"].astype(int), asked["gpus"], strict=True)
        self.own = {key: row for key, row in zip(keys, asked.itertuples(), strict=True)}
        scale = efficiency.assign(framework=frameworks_of(efficiency, instances, question.framework))
        scale = scale[scale["precision"] == question.precision].sort_values("efficiency")
        key = ["framework", "base_instance", "instance", "model", "batch_size"]
        pairs = zip(*(scale[name] for name in key), strict=True)
        self.efficiency = dict(zip(pairs, scale.itertuples(), strict=True))  # of several variants the best, as in 2018

    def _framework(self, name: str) -> str:
        """The framework that figures of an instance must be of."""
        return self.instances[name].framework or self.question.framework

    def cells(self) -> pd.DataFrame:
        """One row per (instance, model, batch) of the question that published evidence reaches.

        Where the question leaves the batch to each machine, it is the largest of the machine's own figures. Columns:
        those of Cell, `gpu`, and the fields of Figure.
        """
        rows = []
        for name in self.instances:
            for model in self.question.model:
                for batch_size in self.question.batches(model) or self._own_batches(name, model):
                    figure = self._figure(name, model, batch_size)
                    if figure is not None:
                        asked = asked_cell(self.question, self.instances, name, model, batch_size)
                        rows.append(asked | figure._asdict())
        return pd.DataFrame(rows, columns=list(dict.fromkeys([*CELL_COLUMNS, "gpu", *Figure._fields])))

    def _own_batches(self, name: str, model: str, seen: tuple[str, ...] = ()) -> list[int]:
        """The largest batch of the figures that an instance has itself or by declaration; empty without any."""
        instance = self.instances[name]
        own = [key[2] for key in self.own if key[:2] == (name, model) and key[3] == instance.gpus]
        other = instance.equivalent_to or instance.base_instance
        if own or other is None or name in seen:
            return [max(own)] if own else []
        return self._own_batches(other, model, (*seen, name))

    def _figure(self, name: str, model: str, batch_size: int, seen: tuple[str, ...] = ()) -> Figure | None:
        instance = self.instances[name]
        if name in seen:
            raise UserError(f"instances: {' -> '.join((*seen, name))} declare each other; name one with figures")
        own = self.own.get((name, model, batch_size, instance.gpus))
        if own is not None:
            ends: dict[str, Any] = {end: getattr(own, end, math.nan) for end in OWN_ENDS}
            told = basis_of(own.benchmark), own.source, remarks(own), bool(own.xla)
            return Figure(own.images_per_s, own.variant, *told, **ends)
        if instance.equivalent_to is not None:
            other = self._figure(instance.equivalent_to, model, batch_size, (*seen, name))
            if other is None:
                return None
            source = f"{name} declared equivalent to {instance.equivalent_to} ; {other.source}"
            return other._replace(basis=weakest("equivalent", other.basis), source=source)
        if instance.base_instance is not None:
            return self._scaled(name, instance, model, batch_size, seen)
        # Several devices are joined in one way or another: only figures of the very machine stand in for them.
        pool = self.pool[self.pool["gpus"] == instance.gpus]
        pool = pool if instance.gpus == 1 else pool[pool["instance"] == name]
        return stand_in(pool, instance.gpu, model, batch_size, self.question, self.as_of)

    def _scaled(
        self, name: str, instance: "Instance", model: str, batch_size: int, seen: tuple[str, ...]
    ) -> Figure | None:
        single = str(instance.base_instance)
        base = self._figure(single, model, batch_size, (*seen, name))
        framework = self._framework(name)
        row = self.efficiency.get((framework, single, name, model, batch_size))
        if base is None or row is None or framework != self._framework(single):
            return None  # figures of two frameworks are never a pair
        source = f"{row.gpus} x {single} x {row.efficiency:g} ({row.source}) ; {base.source}"
        rates = {name: row.gpus * getattr(base, name) * row.efficiency for name in ("images_per_s", *OWN_ENDS)}
        basis = weakest("scaled", base.basis)
        scaled = base._replace(**rates, variant=row.variant, basis=basis, source=source)
        return scaled._replace(warnings=joined(base.warnings, self._gap(scaled, instance, row.gpus, model)))

    def _gap(self, figure: Figure, instance: "Instance", gpus: int, model: str) -> list[dict[str, str]]:
        """What published figures of as many such devices say of a scaled one; in the precision of its base."""
        pool = self.pool
        like = pool[
            pool["comparable"]
            & (pool["gpus"] == gpus)
            & (pool["model"] == model)
            & same_device(pool["gpu"], instance.gpu)
            & (pool["framework"] == (figure.stand_in_framework or instance.framework or self.question.framework))
            & (pool["precision"] == (figure.stand_in_precision or self.question.precision))
            & (pool["xla"] == figure.xla)
        ]
        devices = f"{gpus} x {instance.gpu}"
        return against_published(figure.images_per_s, devices, like["images_per_s"], like["batch_size"])
