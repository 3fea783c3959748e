"""What machines have cost since 2013: the observations of prices-2026, and every window of some months in them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sweetspot.errors import UserError

STUDY = "prices-2026"
LIST, CLOUD, SPOT = "list", "cloud", "spot"  # hyperscalers on demand; smaller clouds on demand; hyperscalers' spot
QUOTE = "quote"  # of smaller clouds too, in no series that the presets are fitted to: the replay may rent there
SERIES = ["provider", "gpu", "machine"]
COLUMNS = {"kind", *SERIES, "date", "usd_per_gpu_hour", "hand_kept", "source"}
YEAR = 12
# Between two looks at a series further apart than this nothing is known of its path.
LONGEST_GAP = {LIST: np.inf, CLOUD: 24.0, SPOT: 6.0}


@dataclass(frozen=True)
class Series:
    """One machine of one provider: prices at times (months since year 0), by time.

    `step`: a price holds until the next; else it is on a line of the logarithm between two looks. `gap`: months between
    two looks beyond which nothing is known.
    """

    key: tuple[str, ...]
    times: np.ndarray
    prices: np.ndarray
    step: bool
    gap: float

    def at(self, time: np.ndarray) -> np.ndarray:
        """The price at some times within the series: the last seen, or between two looks on a line of the logarithm."""
        inside = np.clip(time, self.times[0], self.times[-1])
        if self.step:
            seen: np.ndarray = self.prices[np.searchsorted(self.times, inside + 1e-9, side="right") - 1]
            return seen
        return np.exp(np.interp(inside, self.times, np.log(self.prices)))

    def known(self, start: float, end: float) -> bool:
        """Whether no two looks between which these months lie are too far apart."""
        apart = np.diff(self.times)[(self.times[:-1] < end) & (self.times[1:] > start)]
        return not (apart > self.gap).any()

    def starts(self, span: int) -> np.ndarray:
        """Beginnings of months from which `span` months are known."""
        months = np.arange(np.ceil(self.times[0]), np.floor(self.times[-1] - span) + 1)
        return np.array([month for month in months if self.known(month, month + span)])


def read_history(folder: Path) -> pd.DataFrame:
    """price_history.csv of `folder` with `time` in months (12 x year + month - 1 + day). Raises UserError."""
    return _read(folder / "price_history.csv", COLUMNS)


def read_resale(folder: Path) -> pd.DataFrame:
    """resale.csv: second-hand prices with age and share of the new price. Raises UserError."""
    return _read(folder / "resale.csv", {"class", "gpu", "date", "age_years", "ratio_to_new"})


def read_servers(folder: Path) -> pd.DataFrame:
    """server_prices.csv: what a new server of eight cost a device, by the day of the quote. Raises UserError."""
    return _read(folder / "server_prices.csv", {"gpu", "date", "usd_per_gpu"})


def _read(file: Path, columns: set[str]) -> pd.DataFrame:
    try:
        table = pd.read_csv(file, keep_default_na=False, na_values={"usd_per_gpu_hour": [""], "n_sales": [""]})
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be read as a table of prices: {error}") from None
    lacking = sorted(columns - set(table.columns))
    if lacking:
        raise UserError(f"{file}: column {lacking[0]} is missing; expected {', '.join(sorted(columns))}")
    return table.assign(time=month_of(pd.to_datetime(table["date"])))


def month_of(date: "pd.Series | pd.DatetimeIndex") -> np.ndarray:
    """Months since year 0, with the part of the month that has passed."""
    when = pd.DatetimeIndex(date)
    return (12 * when.year + when.month - 1 + (when.day - 1) / when.days_in_month).to_numpy(float)


def month_name(time: float) -> str:
    """2024-03 of a month."""
    return f"{int(time) // 12}-{int(time) % 12 + 1:02d}"


def series_of(history: pd.DataFrame, kind: str, strict: bool = False) -> list[Series]:
    """The series of a kind with two looks or more. `strict`: rows of tables kept by hand count only where they moved.

    Tables kept by hand go stale: with all of their rows prices move too little, with the strict ones too much.
    """
    found = []
    rows = history[history["kind"] == kind].sort_values("time")
    for key, part in rows.groupby(SERIES):
        one = part.drop_duplicates("time")
        if strict:
            moved = one["usd_per_gpu_hour"].diff().abs() > 1e-9
            first = np.arange(len(one)) == 0
            one = one[(one["hand_kept"] == "no") | moved | first]
        if len(one) > 1:
            times, prices = one["time"].to_numpy(float), one["usd_per_gpu_hour"].to_numpy(float)
            found.append(Series(tuple(map(str, key)), times, prices, kind == LIST, LONGEST_GAP[kind]))
    return found


def windows(series: list[Series], span: int = YEAR) -> pd.DataFrame:
    """Every `span` months of every series: SERIES, `start` (month), `log_change` of the price from end to end."""
    parts = []
    for one in series:
        starts = one.starts(span)
        if len(starts):
            changes = np.log(one.at(starts + span) / one.at(starts))
            parts.append(
                pd.DataFrame(dict(zip(SERIES, one.key, strict=True)) | {"start": starts, "log_change": changes})
            )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*SERIES, "start", "log_change"])
