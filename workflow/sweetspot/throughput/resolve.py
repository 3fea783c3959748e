"""Throughput that nobody measured here: published, scaled, declared equivalent, or the nearest stand-in."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from sweetspot.cells import Cell, weakest
from sweetspot.errors import UserError
from sweetspot.throughput.published import OWN_ENDS, frameworks_of, remarks
from sweetspot.warnings import warning

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Question


class Figure(NamedTuple):
    """A throughput figure with its evidence.

    images_per_s_low, images_per_s_high: as the source bounds it; NaN where it does not.
    stand_in_*: the cell whose figure stands in, for this figure or for the one it is made from; else None.
    """

    images_per_s: float
    variant: str
    basis: str
    source: str
    warnings: list[dict[str, str]]
    xla: bool
    stand_in_gpu: str | None = None
    stand_in_framework: str | None = None
    stand_in_batch_size: int | None = None
    stand_in_precision: str | None = None
    images_per_s_low: float = math.nan
    images_per_s_high: float = math.nan


def resolve_cells(
    question: "Question",
    instances: Mapping[str, "Instance"],
    own: pd.DataFrame,
    pool: pd.DataFrame,
    efficiency: pd.DataFrame,
) -> pd.DataFrame:
    """One row per (instance, model, batch) of the question that published evidence reaches.

    Where the question leaves the batch to each machine, it is the largest of the machine's own figures.

    In this order: the study's own figure; the figure of the instance declared equivalent; n x the base
    instance's figure x the study's efficiency; a stand-in (`stand_in`). Columns: those of Cell, `gpu`,
    and the fields of Figure.
    """
    resolver = _Resolver(question, instances, own, pool, efficiency)
    rows = []
    for name, instance in instances.items():
        for model in question.model:
            for batch_size in question.batches(model) or resolver.own_batches(name, model):
                figure = resolver.figure(name, model, batch_size)
                if figure is not None:
                    cell = Cell(
                        name,
                        instance.framework or question.framework,
                        model,
                        batch_size,
                        instance.gpus,
                        question.precision,
                        figure.variant,
                    )
                    rows.append({**cell._asdict(), "gpu": instance.gpu, **figure._asdict()})
    return pd.DataFrame(rows, columns=list(dict.fromkeys([*Cell._fields, "gpu", *Figure._fields])))


class _Resolver:
    """Looks evidence up for one (instance, model, batch), following declarations."""

    def __init__(
        self,
        question: "Question",
        instances: Mapping[str, "Instance"],
        own: pd.DataFrame,
        pool: pd.DataFrame,
        efficiency: pd.DataFrame,
    ) -> None:
        self.question, self.instances, self.pool = question, instances, pool
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

    def own_batches(self, name: str, model: str, seen: tuple[str, ...] = ()) -> list[int]:
        """The largest batch of the figures that an instance has itself or by declaration; empty without any."""
        instance = self.instances[name]
        own = [key[2] for key in self.own if key[:2] == (name, model) and key[3] == instance.gpus]
        other = instance.equivalent_to or instance.base_instance
        if own or other is None or name in seen:
            return [max(own)] if own else []
        return self.own_batches(other, model, (*seen, name))

    def figure(self, name: str, model: str, batch_size: int, seen: tuple[str, ...] = ()) -> Figure | None:
        instance = self.instances[name]
        if name in seen:
            raise UserError(f"instances: {' -> '.join((*seen, name))} declare each other; name one with figures")
        own = self.own.get((name, model, batch_size, instance.gpus))
        if own is not None:
            ends = {name: getattr(own, name, math.nan) for name in OWN_ENDS}
            return Figure(own.images_per_s, own.variant, "published", own.source, remarks(own), bool(own.xla), **ends)
        if instance.equivalent_to is not None:
            other = self.figure(instance.equivalent_to, model, batch_size, (*seen, name))
            if other is None:
                return None
            declared = f"{name} declared equivalent to {instance.equivalent_to}"
            basis = weakest("equivalent", other.basis)
            return other._replace(basis=basis, source=f"{declared} ; {other.source}")
        if instance.base_instance is not None:
            return self._scaled(name, instance, model, batch_size, seen)
        return stand_in(self.pool, instance.gpu, model, batch_size, self.question) if instance.gpus == 1 else None

    def _scaled(
        self, name: str, instance: "Instance", model: str, batch_size: int, seen: tuple[str, ...]
    ) -> Figure | None:
        base = self.figure(instance.base_instance, model, batch_size, (*seen, name))
        framework = self._framework(name)
        row = self.efficiency.get((framework, instance.base_instance, name, model, batch_size))
        if base is None or row is None or framework != self._framework(instance.base_instance):
            return None  # figures of two frameworks are never a pair
        source = f"{row.gpus} x {instance.base_instance} x {row.efficiency:g} ({row.source}) ; {base.source}"
        rates = {name: row.gpus * getattr(base, name) * row.efficiency for name in ("images_per_s", *OWN_ENDS)}
        return base._replace(**rates, variant=row.variant, basis=weakest("scaled", base.basis), source=source)


def stand_in(pool: pd.DataFrame, gpu: str, model: str, batch_size: int, question: "Question") -> Figure | None:
    """The nearest published single-device figure of the same device and model, or None.

    Order of nearness: the framework asked for, then the precision, then the exact device before one of its forms
    (`Tesla V100` before `Tesla V100-SXM3-32GB`), then the batch distance in doublings (the smaller batch wins a tie).
    Of several equally near figures the median is taken.
    """
    same = pool[(pool["gpus"] == 1) & (pool["model"] == model) & pool["batch_size"].notna()]
    same = same[(same["gpu"] == gpu) | same["gpu"].str.startswith(f"{gpu}-")]
    if same.empty:
        return None
    distance = pd.DataFrame(
        {
            "framework": same["framework"] != question.framework,
            "precision": same["precision"] != question.precision,
            "device": same["gpu"] != gpu,
            "batch": (same["batch_size"].astype(float) / batch_size).map(lambda ratio: abs(math.log2(ratio))),
            "smaller": same["batch_size"].astype(float),
        }
    )
    order = distance.sort_values(list(distance.columns), kind="stable")
    nearest = same.loc[order.index[(order == order.iloc[0]).all(axis=1)]]
    first = nearest.iloc[0]
    found = {
        "device": str(first["gpu"]),
        "framework": str(first["framework"]),
        "batch": int(first["batch_size"]),
        "precision": str(first["precision"]),
    }
    asked = {"device": gpu, "framework": question.framework, "batch": batch_size, "precision": question.precision}
    differ = [
        warning(f"stand_in_{name}", f"asked {name} {asked[name]}; that of the nearest published figure is {value}")
        for name, value in found.items()
        if value != asked[name]
    ]
    count = f"median of {len(nearest)} rows: " if len(nearest) > 1 else ""
    words = f"{found['device']}, {found['framework']}, batch {found['batch']}, {found['precision']}"
    source = f"{count}{' ; '.join(nearest['source'].unique())} ({words})"
    value = float(nearest["images_per_s"].median())
    return Figure(value, "default", "stand_in", source, differ, bool(nearest["xla"].all()), *found.values())
