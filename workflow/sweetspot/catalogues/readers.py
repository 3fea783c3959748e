"""Price catalogues by format (columns.csv): SkyPilot's vms.csv, gpuhunt's files, and a plain table as CSV or JSON. A
bad line is named and left out, never the whole file.
"""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

from sweetspot.catalogues.listing import Catalogue, Listing
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.files import parse_json, read_limited
from sweetspot.study.catalogue_map import RATES

FORMATS = ("skypilot", "gpuhunt", "csv", "json")
PURCHASES = {"": "on_demand", "true": "spot", "false": "on_demand"} | {name: name for name in RATES}
SMALLER_MEMORY_GB = {"A100": 40.0, "V100": 16.0}  # SkyPilot has the other sizes as A100-80GB and V100-32GB.
SIZE_LIMIT = 200_000_000
LONGEST_SLUG = 64
PRICES = ["on_demand", "spot"]  # SkyPilot has both in one line.
NUMBERS = [*PRICES, "per_hour", "gpus", "vcpus", "memory_gib", "gpu_memory_gb"]
FIELDS = list(Listing.__dataclass_fields__)
COLUMNS = [*FIELDS, *PRICES, "gpu_info"]
# What names of machines in catalogues are made of: "NVIDIA A100 80GB PCIe", "VM.Standard.E4.Flex$_2_8".
TITLE = r"[A-Za-z0-9][A-Za-z0-9_ .,:+$()/-]{0,199}"
# Names that say GPU: "gpu_8x_h100", "a3-highgpu-8g", "8x-H100_SXM", and all of Google's A and G series.
SAYS_GPU = r"(?i)gpu|^\d+x[-_ ]|^(?:a[2-9]x?|g[2-9])-(?:high|mega|ultra|max|standard)|-\d+g(?:-|$)"


def read_catalogue(kind: str, path: str | Path) -> Catalogue:
    """Read a catalogue file in one of FORMATS. Raises UserError if it has another format or no price at all."""
    return parse_catalogue(kind, read_limited(path, SIZE_LIMIT), str(path))


def parse_catalogue(kind: str, content: bytes, file: str) -> Catalogue:
    """Parse the bytes of a provider's price catalogue into listings (the price of an hour of a machine in a zone);
    lines without a usable price are kept aside with their fault. Raises UserError if it has another format or no price.

    Parameters
    ----------
    kind, content, file
        One of FORMATS, CSV or JSON in UTF-8, and the name of the file, for error messages.
    """
    lines = _read_lines(kind, content, file)
    if kind == "skypilot":
        lines = _with_accelerators(lines).drop(columns=["purchase", "per_hour"])
        id_columns = list(lines.columns.difference(PRICES))
        lines = lines.melt(id_columns, PRICES, "purchase", "per_hour", ignore_index=False)
        lines = lines.sort_index(kind="stable").dropna(subset="per_hour")

    rows = _listing_rows(lines)
    is_listed = rows["fault"] == ""
    listed = rows.loc[is_listed, FIELDS].astype(object)
    records = listed.where(listed.notna(), None).to_dict("records")
    catalogue = Catalogue(file, [Listing(**record) for record in records], rows[~is_listed].drop_duplicates("line"))
    if not records:
        reason = next(iter(catalogue.skipped()), file)
        raise UserError(f"{reason}: no price is left; expected at least one")
    return catalogue


def _read_lines(kind: str, content: bytes, file: str) -> pd.DataFrame:
    """Read a catalogue's bytes to a row per line in one common form, whatever its format (`kind`): COLUMNS (text;
    those in NUMBERS are floats), `line` (number in the file), `fault` (why it cannot be used; '': none).
    """
    declared = pd.read_csv(Path(__file__).with_name("columns.csv"), keep_default_na=False)
    declared = declared[declared["format"] == ("csv" if kind == "json" else kind)]
    try:
        text = content.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        lines = parse_json(text) if kind == "json" else list(reader)
        names = reader.fieldnames or []
        if kind != "json" and len(set(names)) < len(names):
            raise ValueError(f"a column twice in {', '.join(names)}")
        columns = set().union(*lines)
    except (csv.Error, ValueError, RecursionError, TypeError) as error:
        expected = "neither CSV in UTF-8 nor a JSON list of objects"
        raise UserError(f"{file}: {expected}: {' '.join(str(error).split())}") from None
    for column in declared.loc[declared["needed"] == "yes", "column"]:
        if column not in columns:
            raise UserError(f"{file}: column '{column}' is missing; expected lines of a {kind} file")

    fields = dict(zip(declared["column"], declared["field"], strict=True))
    cells = pd.DataFrame(lines, columns=list(fields), dtype=object).rename(columns=fields)
    cells = cells.reindex(columns=COLUMNS, fill_value="").fillna("").astype(str).apply(lambda text: text.str.strip())
    has_fields = [kind == "json" or None not in (*row, *row.values()) for row in lines]
    return cells.assign(
        **cells[NUMBERS].apply(pd.to_numeric, errors="coerce"),
        zone=cells["zone"].where(cells["zone"] != "", cells["region"]),
        line=cells.index + (1 if kind == "json" else 2),
        fault=np.where(has_fields, "", "not as many fields as the heading has columns"),
    )


def _with_accelerators(lines: pd.DataFrame) -> pd.DataFrame:
    """Return SkyPilot's machines (rows of `_read_lines`) with complete devices and prices: it lists a Google machine
    and its accelerators in separate lines, whose prices are added here, zone by zone. A machine whose name says GPUs
    and for which its zone has none has a fault. Accelerators without a machine (TPUs, ...) are left out.
    """
    sizes = pd.DataFrame(table("google_machines")).rename(columns={"accelerator": "gpu", "count": "gpus"})
    is_machine = lines["instance"] != ""
    added = lines[~is_machine].drop(columns="instance").merge(sizes.astype({"gpus": float}), on=["gpu", "gpus"])
    machines = lines[is_machine].merge(added, "left", ["zone", "instance"], suffixes=("", "_added"))

    lacks_devices = (machines["gpu"] == "") & machines["instance"].str.contains(SAYS_GPU)
    is_host = lacks_devices & machines["gpu_added"].notna()
    for name in ("gpu", "gpus"):
        machines[name] = machines[f"{name}_added"].where(is_host, machines[name])
    for name in PRICES:  # Google's A4 hosts cost 0.
        machines[name] += machines[f"{name}_added"].where(is_host, 0.0)
    machines["gpu_memory_gb"] = machines["gpu"].map(SMALLER_MEMORY_GB)
    machines.loc[lacks_devices & ~is_host, "fault"] = machines["instance"] + " says GPUs and its line has none"
    return machines


def _listing_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Turn catalogue lines (`_read_lines`, one price each) into the fields of Listing, with `line`, `machine` (as
    listed) and `fault` ('': none), so that good rows become listings and the others are reported.
    """
    machine = cells["instance"]
    counts = cells[["gpus", "vcpus"]]
    counts = counts.where((counts >= 1) & (counts % 1 == 0)).astype("Int64")
    # RunPod's names in gpuhunt are those of the device, alike for one and for eight.
    is_repeated = counts["gpus"].groupby(machine).transform("nunique") > 1
    title = machine.where(~is_repeated, counts["gpus"].astype(str) + "x " + machine)
    slug = title.str.replace(r"[^A-Za-z0-9._-]+", "-", regex=True).str.strip("-._").str[:LONGEST_SLUG]
    purchase = cells["purchase"].str.lower().map(PURCHASES)

    faults = {
        "no name of letters, digits and .,:+$()/_-": ~title.str.fullmatch(TITLE),
        f"no purchase, expected one of {', '.join(RATES)}": purchase.isna(),
        "no price above 0": ~(cells["per_hour"] > 0),
        "no whole number of the device": (cells["gpu"] != "") & counts["gpus"].isna(),
    }
    fault = np.select(list(faults.values()), list(faults), "")
    return cells.assign(
        **counts,
        machine=machine,
        fault=cells["fault"].where(cells["fault"] != "", fault),
        instance=slug,
        title=title.where(title != slug, ""),
        purchase=purchase,
        per_hour=cells["per_hour"].round(6),
        gpu_detail=cells["gpu_info"].str.extract(r"'Name': '([^']+)'")[0].fillna(""),
    )
