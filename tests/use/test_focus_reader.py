"""Bills in FOCUS: totals against sums of the csv module in decimals, months, units, faults in one sentence."""

import csv
import gzip
import io
import random
import sys
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.use.focus import CATEGORIES, focus_jobs, machine, read_focus
from sweetspot.use.month_sums import held_jobs
from sweetspot.use.read_use import of_bill

BASE = {
    "BilledCost": "10", "BillingCurrency": "USD", "ChargeCategory": "Usage", "ChargeClass": "NULL",
    "ChargeDescription": "p5.48xlarge hour", "ChargePeriodEnd": "2026-03-01T01:00:00Z",
    "ChargePeriodStart": "2026-03-01T00:00:00Z", "ConsumedQuantity": "1", "ConsumedUnit": "Hours",
    "EffectiveCost": "8", "ProviderName": "AWS", "SkuId": "X",
}  # fmt: skip
P5 = machine("p5.48xlarge", "aws-p5.48xlarge", "H100 SXM", 8)
REAL = ROOT / "tests" / "data" / "use" / "focus_1_0_sample.csv"
A3 = machine("a3-highgpu-8g", "gcp-a3", "H100 SXM", 8)


def bill(folder: Path, *rows: dict[str, str], name: str = "bill.csv", drop: tuple[str, ...] = ()) -> Path:
    """A bill of rows that differ from BASE."""
    every = [{key: value for key, value in (BASE | row).items() if key not in drop} for row in rows]
    file = folder / name
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, every[0])
        writer.writeheader()
        writer.writerows(every)
    return file


def _random_rows(count: int) -> list[dict[str, str]]:
    """Charges of a year as three clouds write them: two forms of times, all categories, corrections, two currencies."""
    drawn = random.Random(38)
    rows = []
    for _ in range(count):
        day = f"2026-{drawn.randrange(1, 13):02}-{drawn.randrange(1, 28):02}"
        what = drawn.choice(["p5.48xlarge Spot hour", "a3-highgpu-8g", "GB of storage", "t3.micro hour", "NULL"])
        cost = Decimal(drawn.randrange(-(10**6), 10**9)) / 10**7
        rows.append({
            "ChargePeriodStart": drawn.choice([f"{day} 00:00:00", f"{day}T00:00Z"]),
            "ChargePeriodEnd": drawn.choice([f"{day} 23:59:59", f"{day}T12:00:00.000Z"]),
            "ChargeCategory": drawn.choice(CATEGORIES), "ChargeClass": drawn.choice(["", "NULL", "Correction"]),
            "BillingCurrency": drawn.choice(["USD", "EUR"]), "ChargeDescription": what,
            "EffectiveCost": str(cost), "BilledCost": str(cost * 2), "ConsumedQuantity": str(abs(cost)),
            "ConsumedUnit": drawn.choice(["Hours", "GB", "GB-Hours"]),
        })  # fmt: skip
    return rows


def test_totals_are_those_of_the_csv_module_in_decimals(tmp_path: Path) -> None:
    file = bill(tmp_path, *_random_rows(3000))
    money: dict[tuple[str, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * 4)
    with file.open(newline="") as stream:
        for row in csv.DictReader(stream):
            words = row["ChargeDescription"].split()[0]
            name = {"p5.48xlarge": P5.name, "a3-highgpu-8g": A3.name}.get(words, "")
            timed = name and row["ChargeCategory"] == "Usage" and row["ConsumedUnit"] == "Hours"
            hours = Decimal(row["ConsumedQuantity"]) if timed else Decimal(0)
            key = (row["ChargePeriodStart"][:7], row["BillingCurrency"], name, row["ChargeCategory"],
                   str(row["ChargeClass"] == "Correction"))  # fmt: skip
            told = (Decimal(row["EffectiveCost"]), Decimal(row["BilledCost"]), hours, hours * 8)
            money[key] = [so_far + more for so_far, more in zip(money[key], told, strict=True)]
    found = read_focus(file, [P5, A3])
    assert len(found) == len(money)
    for row in found.to_dict("records"):
        key = (f"{row['month']:%Y-%m}", row["currency"], row["machine"], row["category"], str(row["correction"]))
        read = [row[name] for name in ("effective_cost", "billed_cost", "hours", "device_hours")]
        assert read == pytest.approx([float(value) for value in money[key]], rel=1e-12, abs=1e-9)
    assert found["charges"].sum() == 3000


def test_csv_gzip_and_parquet_say_the_same(tmp_path: Path) -> None:
    rows = _random_rows(200)
    plain = bill(tmp_path, *rows)
    zipped, table = tmp_path / "bill.csv.gz", tmp_path / "bill.parquet"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    every = pd.read_csv(plain, dtype=str, keep_default_na=False).replace({"NULL": None, "": None})
    typed = every.assign(
        EffectiveCost=every["EffectiveCost"].map(Decimal), BilledCost=every["BilledCost"].astype(float),
        ChargePeriodStart=pd.to_datetime(every["ChargePeriodStart"], utc=True, format="ISO8601"),
        ChargePeriodEnd=pd.to_datetime(every["ChargePeriodEnd"], utc=True, format="ISO8601"),
        SkuPriceDetails=[{"GpuCount": 8}] * len(every),
    )  # fmt: skip
    pq.write_table(pa.Table.from_pandas(typed), table)
    expected = read_focus(plain, [P5, A3])
    pd.testing.assert_frame_equal(read_focus(zipped, [P5, A3]), expected)
    pd.testing.assert_frame_equal(read_focus(table, [P5, A3]), expected)


def test_a_bill_comes_by_a_pipe_zipped_too_and_zeros_without_end_are_refused(tmp_path, monkeypatch) -> None:
    packed = gzip.compress(bill(tmp_path, BASE).read_bytes())
    assert packed[3] == 0  # as `gzip` itself writes where the file has no name
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(packed)))
    assert of_bill("-", lambda file: read_focus(file, [P5]))["effective_cost"].tolist() == [8.0]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(bytes(9_000_000))))
    with pytest.raises(UserError, match="standard input: has zero bytes alone"):
        of_bill("-", lambda file: read_focus(file, [P5]))
    assert sys.stdin.buffer.tell() < 9_000_000  # it did not wait for the end


UNITS = [  # unit, hours that one is, of devices
    ("Hours", 1.0, False), ("hour", 1.0, False), ("1 Hour", 1.0, False), ("Hrs", 1.0, False),
    ("Seconds", 1 / 3600, False), ("Minutes", 1 / 60, False), ("Days", 24.0, False), ("Instance-Hours", 1.0, False),
    ("GPU Hours", 1.0, True), ("GPU-Seconds", 1 / 3600, True), ("GB-Hours", 0.0, False), ("OCPU Hours", 0.0, False),
    ("Requests", 0.0, False), ("", 0.0, False),
]  # fmt: skip


@pytest.mark.parametrize(("unit", "hours", "of_devices"), UNITS)
def test_units_of_time(tmp_path: Path, unit: str, hours: float, of_devices: bool) -> None:
    row = read_focus(bill(tmp_path, {"ConsumedQuantity": "16", "ConsumedUnit": unit}), [P5]).iloc[0]
    assert row["device_hours"] == pytest.approx(16 * hours * (1 if of_devices else 8))
    assert row["hours"] == pytest.approx(16 * hours / (8 if of_devices else 1))


def test_quantities_that_are_priced_where_none_is_consumed(tmp_path: Path) -> None:
    """FOCUS 1.0: ConsumedQuantity is conditional; a commitment's unused hours have none."""
    row = {"PricingQuantity": "3", "PricingUnit": "Hours"}
    assert read_focus(bill(tmp_path, row, drop=("ConsumedQuantity", "ConsumedUnit")), [P5])["hours"].sum() == 3
    assert read_focus(bill(tmp_path, row | {"ConsumedQuantity": "2"}), [P5])["hours"].sum() == 2
    unused = row | {"ConsumedQuantity": "", "CommitmentDiscountStatus": "Unused"}
    assert read_focus(bill(tmp_path, unused), [P5])["hours"].sum() == 0


def test_a_charge_across_months_is_split_by_time(tmp_path: Path) -> None:
    """20 days in February (28), 31 in March, 9 in April: of 60 USD 20, 31 and 9."""
    row = {"ChargePeriodStart": "2026-02-09T00:00:00Z", "ChargePeriodEnd": "2026-04-10T00:00:00Z"}
    found = read_focus(bill(tmp_path, row | {"EffectiveCost": "60", "ConsumedQuantity": "120"}), [P5])
    assert found["effective_cost"].tolist() == pytest.approx([20, 31, 9])
    assert found["hours"].tolist() == pytest.approx([40, 62, 18])
    assert found["charges"].tolist() == [1, 0, 0]
    assert [f"{month:%Y-%m-%d}" for month in found["month"]] == ["2026-02-01", "2026-03-01", "2026-04-01"]


def test_times_with_an_offset_are_months_of_utc(tmp_path: Path) -> None:
    row = {"ChargePeriodStart": "2026-04-01T00:30:00+02:00", "ChargePeriodEnd": "2026-04-01T01:30:00+02:00"}
    assert f"{read_focus(bill(tmp_path, row), [P5])['month'].iloc[0]:%Y-%m}" == "2026-03"


def test_refunds_credits_taxes_and_currencies_stay_apart(tmp_path: Path) -> None:
    rows: tuple[dict[str, str], ...] = (
        {}, {"EffectiveCost": "-8", "ConsumedQuantity": "-1", "ChargeClass": "Correction"},
        {"ChargeCategory": "Credit", "EffectiveCost": "-3"}, {"ChargeCategory": "Tax", "EffectiveCost": "1.9"},
        {"BillingCurrency": "EUR", "EffectiveCost": "7"},
        {"ChargeCategory": "Purchase", "EffectiveCost": "0", "BilledCost": "9000", "ConsumedQuantity": ""},
    )  # fmt: skip
    found = read_focus(bill(tmp_path, *rows), [P5]).set_index(["currency", "category", "correction"])
    assert found.loc[("USD", "Usage", True), ["effective_cost", "hours"]].tolist() == [-8, -1]
    assert found.loc[("EUR", "Usage", False), "effective_cost"] == 7
    assert found.loc[("USD", "Credit", False), ["effective_cost", "hours"]].tolist() == [-3, 0]
    assert found.loc[("USD", "Tax", False), "effective_cost"] == 1.9
    assert found.loc[("USD", "Purchase", False), ["effective_cost", "billed_cost"]].tolist() == [0, 9000]


NAMES = [  # what the bill says, where, whether it is a p5.48xlarge
    ("p5.48xlarge", "ChargeDescription", True), ("$98.32 per On Demand Linux P5.48xlarge Instance Hour",
    "ChargeDescription", True), ('{"InstanceType": "p5.48xlarge"}', "SkuPriceDetails", True),
    ("USE1-BoxUsage:p5.48xlarge", "x_UsageType", True), ("p5.48xlarge", "x_InstanceType", True),
    ("hours of p5.48xlarge.", "ChargeDescription", True), ("xp5.48xlarge", "ChargeDescription", False),
    ("p5.48xlarge-metal", "ChargeDescription", False), ("p5.48xlarge", "x_Team", False),
    ("p5x48xlarge", "ChargeDescription", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "found"), NAMES)
def test_where_a_machine_is_named(tmp_path: Path, text: str, column: str, found: bool) -> None:
    row = read_focus(bill(tmp_path, {"ChargeDescription": "an hour"} | {column: text}), [P5]).iloc[0]
    assert (row["machine"], row["device"]) == (("aws-p5.48xlarge", "H100 SXM") if found else ("", ""))
    assert row["device_hours"] == (8 if found else 0)


def test_a_rule_of_the_user_has_signs_for_any(tmp_path: Path) -> None:
    rule = machine("Standard_ND*_H100_v5", "azure", "H100 SXM", 8)
    assert read_focus(bill(tmp_path, {"SkuId": "Standard_ND96isr_H100_v5"}), [rule])["machine"].tolist() == ["azure"]
    # The first that is given wins, so that a rule of the user goes before the catalogue.
    assert read_focus(bill(tmp_path, {}), [machine("p5.*", "mine", "H100 SXM", 8), P5])["machine"].tolist() == ["mine"]


def test_the_provider_of_1_4_and_null_of_1_0(tmp_path: Path) -> None:
    newer = bill(tmp_path, {"ServiceProviderName": "AWS", "HostProviderName": "AWS"}, drop=("ProviderName",))
    assert read_focus(newer, [P5])["charges"].sum() == 1


ROWS_AT_FAULT = [
    ({"EffectiveCost": "8,5 EUR"}, "row 2: EffectiveCost is '8,5 EUR'; expected a number"),
    ({"BilledCost": ""}, "row 2: BilledCost is empty; expected a number"),
    ({"BilledCost": "inf"}, "row 2: BilledCost is 'inf'; expected a number"),
    ({"ChargePeriodStart": "yesterday"}, "row 2: ChargePeriodStart is 'yesterday'; expected a time"),
    ({"ChargePeriodEnd": "1970-01-01T00:00:00Z"}, "row 2: ChargePeriodEnd is '1970-01-01T00:00:00Z'; expected a time"),
    ({"ChargePeriodEnd": "2026-02-01T00:00:00Z"}, "expected a time that is not before ChargePeriodStart"),
    ({"ChargePeriodEnd": "2099-02-01T00:00:00Z"}, "expected at most ten years after ChargePeriodStart"),
    ({"ChargeCategory": "Fun"}, "row 2: ChargeCategory is 'Fun'; expected one of Usage, Purchase"),
    ({"ChargeClass": "Other"}, "row 2: ChargeClass is 'Other'; expected Correction or nothing"),
    ({"BillingCurrency": "$"}, "row 2: BillingCurrency is '$'; expected a code such as USD"),
    ({"ConsumedQuantity": "many"}, "ConsumedQuantity is 'many'; expected a number"),
]


@pytest.mark.parametrize(("row", "told"), ROWS_AT_FAULT)
def test_a_faulty_row_is_one_sentence(tmp_path: Path, row: dict[str, str], told: str) -> None:
    with pytest.raises(UserError) as error:
        read_focus(bill(tmp_path, {}, row), [P5])
    assert told in str(error.value)
    assert "\n" not in str(error.value)


FILES_AT_FAULT = [
    (b"", "is empty"), (b"a,b\n1,2\n", "no column BilledCost"), (b"\x1f\x8bnot gzip at all", "cannot be read"),
    (b"PAR1 and no more", "is no whole Parquet file"), (b"\xff\xfe\x00a,b\n", "is not UTF-8 text"),
    (b"\x00" * 200_000, "is not UTF-8 text"),
    ((",".join(BASE) + "\n").encode(), "no charge in it"),
    ((",".join(BASE) + ",BilledCost\n" + ",".join([*BASE.values(), "1"]) + "\n").encode(), "'BilledCost' stands twice"),
    ((",".join(BASE) + "\n" + ",".join(BASE.values()) + ",more\n").encode(), "line 2: 13 fields; expected 12"),
    ((",".join(BASE).replace("EffectiveCost", "EfectiveCost") + "\n").encode(), "did you mean 'EfectiveCost'"),
    ((",".join(BASE).replace("ProviderName", "Vendor") + "\n").encode(), "no column ServiceProviderName or"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "told"), FILES_AT_FAULT)
def test_a_faulty_file_is_one_sentence(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "bill"
    file.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_focus(file, [P5])
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_and_a_folder_are_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UserError, match=str(path)):
            read_focus(path, [P5])


def test_machines_of_real_charges_are_jobs() -> None:
    """Real lines of the specification's sample: hours by resource against the csv module's in decimals."""
    expected: dict[str, Decimal] = defaultdict(Decimal)
    with REAL.open(newline="") as stream:
        for row in csv.DictReader(stream):
            if "g5.4xlarge" in row["ChargeDescription"] or "g3.4xlarge" in row["ChargeDescription"]:
                expected[row["ResourceId"]] += Decimal(row["ConsumedQuantity"])
    jobs = focus_jobs(REAL, [machine("g5.4xlarge", "g5", "A10G", 1), machine("g3.4xlarge", "g3", "M60", 1)])
    seconds = held_jobs(jobs).groupby("job")["device_hours"].sum() * 3600
    assert seconds.to_dict() == pytest.approx({name: float(hours) * 3600 for name, hours in expected.items()}, abs=1e-3)
    assert sum(expected.values()) == Decimal("7.969723") and jobs["device"].value_counts().to_dict() == {
        "A10G": 8, "M60": 2
    }  # fmt: skip


def test_jobs_of_a_bill_by_hand(tmp_path: Path) -> None:
    """Two hours of one machine over the end of a month, one refunded of three; three at once; one that runs on."""

    def hours(resource: str, day: str, first: int, last: int, number: str, **more: str) -> dict[str, str]:
        times = {"ChargePeriodStart": f"{day}T{first:02}:00:00Z", "ChargePeriodEnd": f"{day}T{last:02}:00:00Z"}
        return times | {"ResourceId": resource, "ResourceName": "", "ConsumedQuantity": number} | more

    rows = [
        hours("i-1", "2026-02-28", 23, 23, "1", ChargePeriodEnd="2026-03-01T00:00:00Z"),
        hours("i-1", "2026-03-01", 0, 1, "0.5"),
        hours("i-2", "2026-03-02", 0, 3, "3"), hours("i-2", "2026-03-02", 0, 3, "-1", ChargeClass="Correction"),
        hours("", "2026-03-03", 0, 2, "6"),  # six hours in two: three machines of eight devices
        hours("i-3", "2026-03-04", 0, 4, "4", ResourceName="anna's"),
        hours("i-4", "2026-03-04", 0, 4, "4", ChargeCategory="Tax"),
        hours("i-5", "2026-03-04", 0, 4, "4", ChargeDescription="t3.micro"),
    ]  # fmt: skip
    held = held_jobs(focus_jobs(bill(tmp_path, *rows), [P5])).groupby("job")
    alone = "aws-p5.48xlarge of 2026-03-03 00:00:00+00:00"
    assert held["device_hours"].sum().to_dict() == {"i-1": 12, "i-2": 16, alone: 48, "i-3": 32}
    assert held["devices"].max().to_dict() == {"i-1": 8, "i-2": 8, alone: 24, "i-3": 8}
    assert held["state"].last().to_dict() == {"i-1": "over", "i-2": "over", alone: "over", "i-3": "running"}


def test_a_bill_in_import_use_tells_no_names_and_no_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in (3, 4) for day in range(1, 31)]
    rows = [{"ChargePeriodStart": f"{day}T06:00:00Z", "ChargePeriodEnd": f"{day}T07:00:00Z",
             "ResourceId": f"i-secret-{day}", "ResourceName": "secret"} for day in days]  # fmt: skip
    file = str(bill(tmp_path, *rows))
    assert main(["import-use", "focus", file, "--config", str(ROOT / "config"), "--devices", "8"]) == 0
    told = capsys.readouterr().out
    # 60 of 61 days an hour: 60 of 1,464 hours, 1.2 days a month.
    assert "2 months by the clock of UTC: 60 jobs, 480 device-hours" in told and "held jobs 4 %" in told
    assert "secret" not in told and "8x-1h-to-8h" in told and told.count(" -  ") >= 2
    with pytest.raises(UserError, match="charges no hours of a machine that is known; expected some, or --resource"):
        main(["import-use", "focus", str(REAL), "--study", "lab-of-five", "--config", str(ROOT / "config")])
