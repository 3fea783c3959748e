"""A workload of months: classes of jobs that arrive month after month, what is there already, and deadlines."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from sweetspot.errors import UserError
from sweetspot.study.base import AboveZero, Closed, Count, Deadline, Part, Share, Slug, Source, Title, not_once, within
from sweetspot.study.instances import Needs
from sweetspot.study.open_models import SEQUENCE, Method, open_model
from sweetspot.study.terms import ZERO, Amount, NotNegative, Positive

# Two RTX 4090 that train ResNet-50 together lose 5 % (1,301 to 2,468 images/s, Lambda 2024), eight H100 1 %; that
# includes the exchange of gradients, which independent jobs do not make. So they lose less: between nothing and 5 %.
CONTENTION = 0.03
DEVICES_PER_JOB = "Devices that one job takes; a machine of more works on several jobs side by side; all: it takes all"
DevicesPerJob = Annotated[Count | Literal["all"], Field(description=DEVICES_PER_JOB)]
# More are dealt out one by one for minutes, and of a range of more than three decades nobody knows anything.
LARGEST_PER_MONTH, WIDEST = 100_000, 1000.0
GROWTH = (-0.5, 0.5)  # of the jobs from month to month: in a year to 0.02 % of them, or to 130 times as many


def _narrow(jobs: Amount) -> Amount:
    """Validate a number of jobs a month: return it; ValueError for a range of more than three decades."""
    low, high = jobs.ends
    if high > low * WIDEST:
        raise ValueError(f"a range of at most {WIDEST:g} times, found {low:g} to {high:g}")
    return jobs


Arrivals = Annotated[Positive, within(0, LARGEST_PER_MONTH, "jobs a month"), AfterValidator(_narrow)]
Growth = Annotated[Amount, within(*GROWTH, "a share such as 0.05")]


class SideBySide(Needs):
    """The keys by which a workload says how many devices of a machine one of its jobs takes."""

    contention: ClassVar[float] = CONTENTION
    devices_per_job: DevicesPerJob = "all"


class RecurringJob(Needs):
    """Jobs of one kind: each is independent of the others."""

    name: Part
    """Name of the class"""
    title: Title = None
    model: Slug
    """Network trained; its throughput tells how long a job takes on each machine"""
    samples: AboveZero | None = None
    """Samples that one job sees; or hours and instance"""
    tokens: AboveZero | None = None
    """Tokens gone through, in all epochs together; with method, for model a row of facts/models.csv"""
    method: Method | None = None
    """pretrain, full (fine-tuning of all weights), lora or qlora (of adapters; of weights of 4 bits), grpo
    (reinforcement of all weights; tokens are those of prompts and answers)"""
    sequence: int = Field(SEQUENCE, ge=1, le=10_000_000)
    """Tokens of a sequence"""
    hours: AboveZero | None = None
    """Hours of one job on all devices of `instance`"""
    instance: Slug | None = None
    """Machine on which a job takes these hours"""
    per_month: Arrivals
    """Jobs a month; a range is what 90 % of the months lie in"""
    growth_per_month: Growth = ZERO
    """Share by which the jobs of a month are more than the month before; per_month is of the first month"""
    devices_per_job: DevicesPerJob
    within_hours: Deadline | None = None
    """Hours after which the result of an urgent job is due"""
    urgent_per_month: NotNegative | None = None
    """Of these jobs, how many a month are urgent"""
    hours_cv: float = Field(1.0, ge=0, le=10)
    """Standard deviation of the hours of a job over their mean; 0: all alike, 1: as of exponential hours"""
    source: Source

    def _expected(self) -> Iterator[str]:
        """Yield a clause of the user's error message: a job's size, half a pair of keys, unknown model, urgency."""
        if len(self._keys_set("samples", "hours", "tokens")) != 1:
            yield "one of samples, hours and tokens"
        for pair in (("tokens", "method"), ("hours", "instance"), ("within_hours", "urgent_per_month")):
            if len(self._keys_set(*pair)) == 1:
                yield f"{' and '.join(pair)}, both or none"
        if self.sequence != SEQUENCE and self.tokens is None:
            yield "sequence only with tokens"
        if self.tokens is not None:
            try:
                open_model(self.model)
            except UserError as error:
                yield f"a model of facts/models.csv; {error}"
        urgent = self.urgent_per_month or ZERO
        if urgent.value > self.per_month.value:
            yield f"urgent_per_month of at most per_month, found {urgent.value:g} of {self.per_month.value:g}"
        if urgent.ends[0] == 0 < urgent.ends[1]:
            yield "urgent_per_month with a low above 0 where it has a range: it is drawn by its factors"


class Monthly(Closed):
    """The work of a month over the months of a project: what to buy, what to rent, beside what is there."""

    kind: Literal["monthly"]
    """Jobs that arrive month after month"""
    title: Title = None
    months: float = Field(ge=1, le=600)
    """Length of the project"""
    have: list[Slug] = []
    """Machines of the team, each with an offer `own`; the price paid is spent; named twice: two of them"""
    months_alike: Share = 0.5
    """Correlation of the jobs of two months: 1, the range of per_month is one unknown number; 0, each has its own"""
    at_most_up_front: AboveZero | None = None
    """Money of the study that machines bought may cost, upfront parts of contracts among it"""
    jobs: list[RecurringJob] = Field(min_length=1)
    """Classes of jobs"""
    source: Source

    def _expected(self) -> Iterator[str]:
        """Yield a clause for each name or title of a class that is given twice, and per class that grows too much."""
        yield from not_once([text for job in self.jobs for text in {job.name, job.title or job.name}], "jobs")
        for job in self.jobs:
            jobs = job.per_month.value * (1 + job.growth_per_month.ends[1]) ** self.months
            if jobs > LARGEST_PER_MONTH:
                yield f"growth of {job.name} to at most {LARGEST_PER_MONTH:,} jobs a month, found {jobs:.3g} at the end"
