"""A bill in FOCUS (FinOps Open Cost and Usage Specification) 1.0 to 1.4: money and hours by month, machines as jobs.

https://focus.finops.org: columns, allowed values and formats; 1.4 has ServiceProviderName for ProviderName.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table as shipped
from sweetspot.files import require_file
from sweetspot.study.instances import Instance
from sweetspot.study.spelling import hint
from sweetspot.use.job_table import job_table

FOCUS_COLUMNS = (
    "month", "currency", "machine", "device", "category", "correction", "effective_cost", "billed_cost", "hours",
    "device_hours", "charges",
)  # fmt: skip
"""month: its first moment, UTC; currency; machine: as the caller calls it, '' where no machine of GPUs is charged;
device; category: of CATEGORIES; correction: whether it corrects an earlier bill; effective_cost (discounts and
prepayments spread over what they cover), billed_cost: in the currency; hours of machines, and of their devices;
charges: lines of the bill."""
CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
NEEDED = ("BilledCost", "EffectiveCost", "BillingCurrency", "ChargeCategory", "ChargePeriodStart", "ChargePeriodEnd")
PROVIDERS = ("ServiceProviderName", "ProviderName")
QUANTITIES = (("ConsumedQuantity", "ConsumedUnit"), ("PricingQuantity", "PricingUnit"))
OPTIONAL = ("ChargeClass", "CommitmentDiscountStatus", *(name for pair in QUANTITIES for name in pair))
NAMING = ("ResourceType", "ResourceId", "ResourceName", "SkuId", "SkuMeter", "SkuPriceDetails", "ChargeDescription")
OWN_NAMING = re.compile(r"x_.*(instance|machine|sku|meter|usagetype)", re.IGNORECASE)  # columns of a provider's own
CURRENCY = re.compile(r"[A-Z]{3}")
UNIT = re.compile(r"(?:1 )?(?:(?P<of>[a-z]+)[- /](?:per )?)?(?P<unit>seconds?|minutes?|hours?|hrs?|days?)")
HOURS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0}
OF_MACHINES, OF_DEVICES = (None, "instance", "vm", "compute", "units", "unit", "node", "host"), ("gpu", "accelerator")
NULL = ("", "NULL", "null")
ROWS = 200_000  # at once
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
BLOCK, MOST_HEADER = 1 << 24, 1 << 20  # bytes
RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
LONGEST = pd.Timedelta(days=3660)


class Machine(NamedTuple):
    """What a charge is for, where `pattern` is found in one of its naming columns: `name` for people, its devices."""

    pattern: re.Pattern[str]
    name: str
    device: str
    devices: int


def machine(spelt: str, name: str, device: str, devices: int) -> Machine:
    """A machine by a name that a bill gives it: found as a whole word; `*` stands for any signs of one word."""
    inner = re.escape(spelt).replace(r"\*", r"[\w.-]*").replace(r"\ ", r"[ _-]")
    return Machine(re.compile(rf"(?<![\w.-]){inner}(?![\w-])(?!\.\w)", re.IGNORECASE), name, device, devices)


def machines_of(instances: Mapping[str, Instance], told: Sequence[str]) -> list[Machine]:
    """Machines by the names that a bill gives them: `told` (PATTERN=INSTANCE) first, then their own, then catalogues'.

    Raises UserError for a rule about an instance that there is not.
    """
    spelt = []
    for text in told:
        pattern, _, name = (part.strip() for part in text.rpartition("="))
        if not pattern.strip("* "):
            raise UserError(f"--resource is {text!r}; expected PATTERN=INSTANCE, such as 'p5.48x*=aws-p5.48xlarge'")
        if name not in instances:
            raise UserError(f"--resource names {name!r}; expected a machine of instances.yaml{hint(name, instances)}")
        spelt.append((pattern, name))
    spelt += [(name, name) for name in instances]
    for row in shipped("catalogue_names"):
        spelt += [(row["machine"], name) for name in (row["instance"], *row["names"].split(" ; ")) if name in instances]
    return [machine(pattern, name, instances[name].gpu, instances[name].gpus) for pattern, name in spelt]


def read_focus(path: str | Path, machines: Sequence[Machine]) -> pd.DataFrame:
    """FOCUS_COLUMNS of a bill, a row a month, currency, machine, category and correction; CSV (gzip too) or Parquet.

    A charge of several months is split by time. Hours are those of ChargeCategory Usage in a unit of time. The first
    machine that a charge names is its own. Raises UserError with file, row and column.
    """
    keys, sums = list(FOCUS_COLUMNS[:6]), list(FOCUS_COLUMNS[6:])
    parts = [_split(part).groupby(keys, as_index=False)[sums].sum() for part in _charges(Path(path), machines)]
    return pd.concat(parts).groupby(keys, as_index=False, sort=True)[sums].sum()


def focus_jobs(path: str | Path, machines: Sequence[Machine]) -> pd.DataFrame:
    """The machines that a bill charges hours of, in JOB_COLUMNS: a resource is a job, a charge a time that it ran.

    It ran from the begin of the charge on for the hours charged; more hours than the period has are of several
    machines. What ran when the bill ends runs still. A charge of no ResourceId is a job of its own. Refunds lessen the
    hours of the same resource and period. Raises UserError with file, row and column.
    """
    parts = [part[part["device_hours"] != 0] for part in _charges(Path(path), machines)]
    keys = ["machine", "device", "resource", "name", "start", "end", "devices"]
    rows = pd.concat(parts).groupby(keys, as_index=False)["device_hours"].sum()
    rows = rows[rows["device_hours"] > 0].sort_values("start", kind="stable")
    if rows.empty:
        raise UserError(f"{path}: charges no hours of a machine that is known; expected some, or --resource "
                        "PATTERN=INSTANCE")  # fmt: skip
    period = (rows["end"] - rows["start"]).dt.total_seconds() / 3600
    hours = rows["device_hours"] / rows["devices"]
    several = (hours > period) & (period > 0)
    rows["devices"] = rows["devices"].where(~several, rows["device_hours"] / period)
    until = rows["start"] + pd.to_timedelta(hours.where(~several, period), unit="h")
    over = until < rows["end"].max()
    alone = rows["machine"] + " of " + rows["start"].astype(str)
    return job_table(rows.assign(
        job=rows["resource"].where(rows["resource"] != "", alone), partition="", submit=pd.NaT, held_until=until,
        end=until.where(over), state=np.where(over, "over", "running"),
    ).to_dict("records"))  # fmt: skip


def _charges(file: Path, machines: Sequence[Machine]) -> Iterator[pd.DataFrame]:
    """The charges of a bill, as `_read`, in its chunks. Raises UserError also where there is none."""
    require_file(file)
    empty = True
    for first, chunk in _chunks(file):
        if len(chunk):
            empty = False
            yield _read(chunk, _Place(file, first), machines)
    if empty:
        raise UserError(f"{file}: no charge in it; expected a row a charge below the names of the columns")


class _Place:
    """Where a reader stands: `first` is the number of the first row below the header."""

    def __init__(self, file: Path, first: int) -> None:
        self.file, self.first = file, first

    def refuse(self, table: pd.DataFrame, wrong: "pd.Series[bool]", column: str, expected: str) -> None:
        """Raises UserError about the first value that is `wrong`."""
        if wrong.any():
            row = int(np.argmax(wrong.to_numpy()))
            value = str(table[column].iloc[row])
            shown = repr(value if len(value) <= 60 else value[:57] + "...") if value else "empty"
            raise UserError(f"{self.file}, row {self.first + row}: {column} is {shown}; expected {expected}")


def _chunks(file: Path) -> Iterator[tuple[int, pd.DataFrame]]:
    """The number of a first row and the rows from there on, as text, '' for null; columns as `_wanted`."""
    try:
        with file.open("rb") as stream:
            begins = stream.read(4)
        first = 1
        for chunk in _of_parquet(file) if begins == PARQUET else _of_csv(file, begins[:2] == GZIP):
            yield first, chunk.mask(chunk.isin(NULL), "")
            first += len(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{file}: cannot be read ({str(error)[:80]}); expected a whole CSV or Parquet file") from None


def _wanted(file: Path, names: Sequence[str]) -> list[str]:
    """The columns to read. Raises UserError where one is missing or stands twice."""
    for name in NEEDED:
        if name not in names:
            raise UserError(f"{file}: no column {name}{hint(name, names)}; expected a bill in FOCUS 1.0 to 1.4")
    if not set(PROVIDERS) & set(names):
        raise UserError(f"{file}: no column {' or '.join(PROVIDERS)}; expected a bill in FOCUS 1.0 to 1.4")
    known = {*NEEDED, *OPTIONAL, *NAMING}
    found = [name for name in names if name in known or OWN_NAMING.match(name)]
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice:
        raise UserError(f"{file}: column {twice!r} stands twice; expected each once")
    return found


def _of_csv(file: Path, zipped: bool) -> Iterator[pd.DataFrame]:
    import pyarrow as pa
    import pyarrow.csv

    with gzip.open(file, "rb") if zipped else file.open("rb") as stream:
        head = stream.readline(MOST_HEADER)
    try:
        names = [name.strip() for name in next(csv.reader([head.decode("utf-8-sig")]), [])]
        if not names:
            raise UserError(f"{file}: is empty; expected a bill in FOCUS 1.0 to 1.4")
        wanted = _wanted(file, names)
        with pa.input_stream(str(file), compression="gzip" if zipped else None) as stream:
            read = pyarrow.csv.open_csv(
                stream,
                pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names, skip_rows=1),
                pyarrow.csv.ParseOptions(newlines_in_values=True),
                pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=wanted),
            )
            for batch in read:
                yield batch.to_pandas(use_threads=False)
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"{file}: is not UTF-8 text; expected the CSV that the cloud exports") from None
    except pa.ArrowException as error:
        if str(error).startswith("Empty CSV"):
            return
        _refuse_table(file, str(error))


def _refuse_table(file: Path, reason: str) -> NoReturn:
    found = RAGGED.search(reason)
    if found:
        row, expected, seen = found.groups()
        raise UserError(f"{file}, line {row}: {seen} fields; expected {expected}, as in line 1") from None
    if "UTF8" in reason:
        raise UserError(f"{file}: is not UTF-8 text; expected the CSV that the cloud exports") from None
    raise UserError(
        f"{file}: is no table ({reason.strip().splitlines()[0][:80]!r}); expected CSV with commas"
    ) from None


def _of_parquet(file: Path) -> Iterator[pd.DataFrame]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file)
        wanted = _wanted(file, table.schema_arrow.names)
        for batch in table.iter_batches(ROWS, columns=wanted):
            flat = {name: _as_text(batch.column(name)) for name in wanted}
            yield pd.DataFrame(flat, dtype=object)
    except pa.ArrowException as error:
        raise UserError(f"{file}: is no whole Parquet file ({str(error).strip()[:80]})") from None


def _as_text(values: Any) -> list[str]:
    """A column's values as text: times as ISO 8601, numbers as they are written, what is nested as Python shows it."""
    return ["" if value is None else str(value) for value in values.to_pylist()]


def _read(rows: pd.DataFrame, place: _Place, machines: Sequence[Machine]) -> pd.DataFrame:
    """The charges of a chunk: FOCUS_COLUMNS but month; start, end, resource and its name, devices of the machine."""
    absent = [name for name in (*OPTIONAL, "ResourceId", "ResourceName") if name not in rows]
    table = rows.assign(**dict.fromkeys(absent, ""))
    place.refuse(table, ~table["ChargeCategory"].isin(CATEGORIES), "ChargeCategory", f"one of {', '.join(CATEGORIES)}")
    place.refuse(table, ~table["BillingCurrency"].str.fullmatch(CURRENCY), "BillingCurrency", "a code such as USD")
    place.refuse(table, ~table["ChargeClass"].isin(("", "Correction")), "ChargeClass", "Correction or nothing")
    hours, of_devices = _hours(table, place)
    found = _machine_of(table, machines)
    devices = np.array([1 if one is None else one.devices for one in found])
    known = np.array([one is not None for one in found])
    hours = np.where(known, hours, 0.0)
    charges = pd.DataFrame({
        "currency": table["BillingCurrency"], "machine": ["" if one is None else one.name for one in found],
        "device": ["" if one is None else one.device for one in found], "category": table["ChargeCategory"],
        "correction": table["ChargeClass"] == "Correction",
        "effective_cost": _number(table, "EffectiveCost", place), "billed_cost": _number(table, "BilledCost", place),
        "hours": np.where(of_devices, hours / devices, hours),
        "device_hours": np.where(of_devices, hours, hours * devices),
        "charges": 1.0, "resource": table["ResourceId"], "name": table["ResourceName"], "devices": devices,
    })  # fmt: skip
    starts, ends = (_time(table, name, place) for name in ("ChargePeriodStart", "ChargePeriodEnd"))
    place.refuse(table, ends < starts, "ChargePeriodEnd", "a time that is not before ChargePeriodStart")
    place.refuse(table, ends - starts > LONGEST, "ChargePeriodEnd", "at most ten years after ChargePeriodStart")
    return charges.assign(start=starts, end=ends)


def _split(charges: pd.DataFrame) -> pd.DataFrame:
    """Each charge in its months, shared out by time; `charges` counts it where it begins."""
    amounts = ["effective_cost", "billed_cost", "hours", "device_hours"]
    left, parts = charges.reset_index(drop=True), []
    begun = left["start"]
    while len(left):
        month = left["start"].dt.tz_localize(None).dt.to_period("M").dt.to_timestamp().dt.tz_localize("UTC")
        following = month + pd.offsets.MonthBegin(1)
        upto = left["end"].where(left["end"] < following, following)
        whole = (left["end"] - begun[left.index]).dt.total_seconds()
        share = ((upto - left["start"]).dt.total_seconds() / whole.where(whole > 0, 1.0)).where(whole > 0, 1.0)
        parts.append(left.assign(month=month, **{name: left[name] * share for name in amounts}))
        left = left.assign(start=following, charges=0.0)[left["end"] > following]
    return pd.concat(parts)[list(FOCUS_COLUMNS)]


def _number(table: pd.DataFrame, name: str, place: _Place) -> pd.Series:
    found = pd.to_numeric(table[name], errors="coerce").astype(float)
    place.refuse(table, ~np.isfinite(found), name, "a number")
    return found


def _time(table: pd.DataFrame, name: str, place: _Place) -> pd.Series:
    found = pd.to_datetime(table[name], errors="coerce", utc=True, format="ISO8601").astype("datetime64[us, UTC]")
    wrong = found.isna() | (found.dt.year < 2000) | (found.dt.year > 2100)
    place.refuse(table, wrong, name, "a time such as 2026-03-01T00:00:00Z, from 2000 to 2100")
    return found


def _hours(table: pd.DataFrame, place: _Place) -> tuple[np.ndarray, np.ndarray]:
    """Hours of each charge of use (0: it has none, or its unit is no time), and whether they are of devices."""
    hours, of_devices = np.zeros(len(table)), np.zeros(len(table), bool)
    used = ((table["ChargeCategory"] == "Usage") & (table["CommitmentDiscountStatus"] != "Unused")).to_numpy()
    done = ~used
    for quantity, unit in QUANTITIES:
        factors = table[unit].map({name: _hours_of(name) for name in table[unit].unique()})
        here = ~done & (table[quantity] != "").to_numpy() & factors.notna().to_numpy()
        if here.any():
            some = table[here]
            factor = np.array([each[0] for each in factors[here]])
            hours[here] = _number(some.reset_index(drop=True), quantity, place).to_numpy() * factor
            of_devices[here] = [each[1] for each in factors[here]]
        done |= here
    return hours, of_devices


def _hours_of(unit: str) -> tuple[float, bool] | None:
    """Hours that one of a unit is, and whether of a device; None for what is no time of machines (`GB-Hours`)."""
    found = UNIT.fullmatch(unit.strip().lower())
    if not found or found["of"] not in (*OF_MACHINES, *OF_DEVICES):
        return None
    return HOURS[found["unit"][0]], found["of"] in OF_DEVICES


def _machine_of(table: pd.DataFrame, machines: Sequence[Machine]) -> list[Machine | None]:
    """The first machine that each charge names; a text that many charges have is looked at once."""
    naming = [name for name in table if name in NAMING or OWN_NAMING.match(str(name))]
    if not naming:
        return [None] * len(table)
    texts = table[naming[0]].astype(object).str.cat([table[name] for name in naming[1:]], sep="\n")
    found: Mapping[str, Machine | None] = {
        text: next((one for one in machines if one.pattern.search(text)), None) for text in texts.unique()
    }
    return [found[text] for text in texts]
