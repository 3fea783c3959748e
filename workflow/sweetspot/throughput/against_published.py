"""What several devices are said to deliver, held against what others have published of as many."""

import pandas as pd

from sweetspot.warnings import warning

GAP = 1.10  # a prediction this far beyond the published figures is told


def against_published(predicted: float, devices: str, published: pd.Series, batches: pd.Series) -> list[dict[str, str]]:
    """The warning `against_published`, or none where the prediction lies within the published figures (GAP).

    predicted: images/s of all devices. devices: in words, such as `8 x Tesla V100`. published: comparable figures
    (images/s; same device, count, model, framework and precision), empty where there are none; batches: per device.
    """
    if published.empty:
        return []
    low, high = float(published.min()), float(published.max())
    if low / GAP <= predicted <= high * GAP:
        return []
    known = sorted({int(batch) for batch in batches.dropna()})
    stated = [str(batch) for batch in known] + (["not stated"] if batches.isna().any() else [])
    span = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    far = f"{predicted / high:.2f} times the highest" if predicted > high else f"{predicted / low:.2f} times the lowest"
    words = f"published of {devices} are {span} (batch {', '.join(stated)}), at {predicted:,.0f} predicted: {far}"
    return [warning("against_published", words)]
