"""Multi-device figures and their single-device partners in one table of published throughput."""

import pandas as pd

from sweetspot.scaling.evidence import EVIDENCE_COLUMNS, SUPERLINEAR
from sweetspot.scaling.machine import family

BENCHMARK = "tf_cnn_benchmarks"
DATASETS = ("synthetic", "real")
SAME = ["gpu", "model", "batch_size", "precision", "dataset"]


def with_partners(published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the multi-device tf_cnn_benchmarks rows on synthetic or real data into those with a partner and without.

    published: the columns of a study's throughput.csv (images_per_s of all devices; batch_size may be missing).
    A partner is a single-device row of the same card, model, batch, precision and dataset; of several, those of the
    same instance and note, else all of them, by their median. Returns (paired, alone), both with the index of
    `published`; paired has also `base_images_per_s`, `base_source`, `efficiency` (dimensionless), `family`
    (card family) and `warning` (super-linear or inconsistent figures, else None).
    """
    rows = published[(published["benchmark"] == BENCHMARK) & published["dataset"].isin(DATASETS)]
    rows = rows.assign(
        batch_size=rows["batch_size"].astype(float),
        **{name: rows[name].fillna("").astype(str) for name in ("instance", "note")},
    )
    key = rows[SAME].assign(batch_size=rows["batch_size"].fillna(0)).apply(tuple, axis=1)
    singles = {group: part for group, part in rows[rows["gpus"] == 1].groupby(key)}
    several = rows[rows["gpus"] > 1]
    found = several.index[[key[index] in singles for index in several.index]]
    partners = [_partner(rows.loc[index], singles[key[index]]) for index in found]
    paired = several.loc[found].assign(
        base_images_per_s=[value for value, _ in partners], base_source=[source for _, source in partners]
    )
    paired["efficiency"] = paired["images_per_s"] / (paired["gpus"] * paired["base_images_per_s"])
    paired["family"] = paired["gpu"].map(family).astype(object)
    paired["warning"] = _warnings(paired, key.loc[found])
    return paired, several.drop(index=found)


def published_evidence(study: str, published: pd.DataFrame) -> pd.DataFrame:
    """The paired rows of a study's throughput.csv in EVIDENCE_COLUMNS; no date where the figure states a version."""
    paired, _ = with_partners(published)
    return paired.assign(study=study, as_of="")[list(EVIDENCE_COLUMNS)].reset_index(drop=True)


def _partner(row: pd.Series, candidates: pd.DataFrame) -> tuple[float, str]:
    own = candidates[(candidates["instance"] == row["instance"]) & (candidates["note"] == row["note"])]
    chosen = own if len(own) else candidates
    return float(chosen["images_per_s"].median()), " ; ".join(dict.fromkeys(chosen["source"]))


def _warnings(paired: pd.DataFrame, key: pd.Series) -> list[str | None]:
    """A base figure slower than its share of several devices spoils every row that rests on it."""
    worst = paired["efficiency"].groupby([key, paired["instance"], paired["note"]]).transform("max")
    return [
        None
        if high <= SUPERLINEAR
        else f"super-linear: efficiency {own:.2f}"
        if own > SUPERLINEAR
        else f"inconsistent: the same single-device figure gives efficiency {high:.2f} elsewhere"
        for own, high in zip(paired["efficiency"], worst, strict=True)
    ]
