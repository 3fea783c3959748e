"""The deadlines of a plan's classes of jobs, for answer.json: what being done within any number of hours costs."""

from pydantic import BaseModel, ConfigDict, Field

from sweetspot.report.cited import records, text
from sweetspot.report.notation import missing
from sweetspot.report.tables import Tables, table_of


class Step(BaseModel):
    """What holds from so many hours on, until those of the next step."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    within_hours: float = Field(description="The deadline")
    option: str | None = Field(description="The cheapest option in time; null: none is")
    title: str | None = Field(description="Its name for people")
    hours: float | None = Field(description="Hours of one urgent job there")
    wait_hours: float | None = Field(description="Hours that it waits on average, where the machine is held; else 0")
    usd: float | None = Field(description="USD of it")
    usd_extra: float | None = Field(description="USD beyond what a job of the class costs that may take its time")
    p_in_time: float | None = Field(description="Probability that it makes it")
    p_result_in_time: float | None = Field(
        description="Probability that it does, the search for a rented machine and failures counted; null: not known"
    )
    share_in_time: float | None = Field(description="Of the jobs that are not asked to hurry, the share that makes it")


class ByDeadline(BaseModel):
    """One class of jobs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workload: str = Field(description="The work of months")
    job: str = Field(description="The class")
    steps: list[Step] = Field(description="By deadline, the shortest first; before the first nobody is in time")


def by_deadline(tables: Tables) -> list[ByDeadline]:
    """Each class of each workload of months, from comparison/deadlines.parquet."""
    table = table_of(tables, "deadlines")
    groups = table.groupby(["workload", "class"], sort=False) if len(table) else ()
    return [
        ByDeadline(workload=text(name), job=text(job), steps=[_step(row) for row in records(rows)])
        for (name, job), rows in groups
    ]


def _step(row: dict[str, object]) -> Step:
    values = {name: row.get(name) for name in Step.model_fields}
    return Step.model_validate({name: None if missing(value) else value for name, value in values.items()})
