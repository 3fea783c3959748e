"""What the comparison needs to know of a study: plain values, so that no other edit of study.yaml repeats it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sweetspot.wording import Money

if TYPE_CHECKING:
    from sweetspot.study.instances import Instance
    from sweetspot.study.study import Study


# Keys of study.yaml that the settings have by the same name.
STUDY_KEYS = ("reference", "month_days", "accepts_interruptions", "counts", "answer_prices", "work", "offers_in_hand")
SEED = 2018  # of every simulation; each uncertain number has a random stream of its own


@dataclass(frozen=True)
class Settings:
    """What the comparison needs of a study; fields without a comment have their names in study.yaml."""

    study: str
    batch_sizes: Mapping[str, int | None]  # of the answer by model; None: that of each machine's own figure
    precision: str
    framework: str
    reference: str | None
    month_days: float
    accepts_interruptions: bool
    seed: int = SEED
    deadlines_hours: tuple[float, ...] = ()
    counts: str = "train"
    answer_prices: Sequence[str] = ()
    titles: Mapping[str, str] = field(default_factory=dict)  # of machines, by instance
    models: Mapping[str, str] = field(default_factory=dict)  # titles of models
    stands_behind: Sequence[str] = ()  # machines on whose figures others rest (base, equivalent)
    gpu_memory_gib: Mapping[str, float] = field(default_factory=dict)  # of one device by instance, where known
    currency: str = "USD"
    usd_per_unit: float = 1.0
    work: str | None = None
    offers_in_hand: Sequence[str] = ()

    @property
    def money(self) -> Money:
        """Currency in which the sentences show money; tables are in USD."""
        return Money(self.currency, self.usd_per_unit)

    @property
    def verdict_columns(self) -> dict[str, Any]:
        """Columns of the verdict by name: `counts` (what a bill is for), `currency`, `usd_per_unit`."""
        return {"counts": self.counts, "currency": self.currency, "usd_per_unit": self.usd_per_unit}

    @classmethod
    def of(cls, study: "Study", instances: "Mapping[str, Instance] | None" = None) -> "Settings":
        """Return a study's settings for the comparison; `instances` (by name) add titles and memory of machines."""
        from sweetspot.study.instances import memory_of  # lazily: its models take longer to import than the comparison

        question = study.cells
        machines, money = instances or {}, study.currency
        paid = {} if money is None else {"currency": money.code, "usd_per_unit": money.usd_per_unit}
        behind = {name for machine in machines.values() for name in (machine.base_instance, machine.equivalent_to)}
        return cls(
            **{name: getattr(study, name) for name in STUDY_KEYS} | paid,
            study=study.name,
            batch_sizes={model: question.headline(model) for model in question.model},
            precision=question.precision,
            framework=question.framework,
            deadlines_hours=tuple(study.deadlines_hours),
            stands_behind=sorted(name for name in behind if name is not None),
            gpu_memory_gib=memory_of(machines),
            models={model: study.model_title(model) for model in question.model},
            titles={name: machine.title for name, machine in machines.items()},
        )
