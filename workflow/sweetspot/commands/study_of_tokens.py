"""The files of a new study about work by tokens: a month of such jobs, on the machines of fine-tune-2026."""

import json
from pathlib import Path

from sweetspot.commands.estimate import PRECISION, Work
from sweetspot.study.open_models import cell_name

FROM = "fine-tune-2026"
TAKEN = ("instances.yaml", "prices/buying.yaml", "prices/rent.yaml", "prices/rent-amd.yaml")
STUDY = """\
# yaml-language-server: $schema=../../schemas/study.schema.json
# It runs as it is; change what is yours. A figure that you timed goes into throughput.csv (docs/tokens.md).
name: {name}
title: {title}
question: >-
  On which GPU, how many hours does a job take, for how much, and should we buy?
as_of: {today}
measure: false
sources:
  - {{id: own, title: Our own figures and offers, date: "{today}"}}
cells:
  model: [{cell}]
  batch_size: [1]
  precision: {precision}
  framework: torch
  headline_batch_size: 1
titles: {{{cell}: {title}}}
price_paths: true
answer_prices: [buying, rent]   # AMD stands in the tables: no figure of fine-tuning on it is published
"""
WORKLOADS = """\
month:
  kind: monthly
  months: 36
  jobs:
    - name: job
      title: {title}
      model: {model}
      method: {method}
      tokens: {tokens:.0f}
      sequence: {sequence}
      per_month: {{value: 10, low: 5, high: 20}}
      devices_per_job: all
      source: our estimate, to be replaced
  source: our estimate, to be replaced
"""


def files_of_tokens(name: str, work: Work, studies: Path, today: str) -> dict[str, str]:
    """Path below the study's folder -> text. Raises OSError where FROM does not lie in `studies`."""
    title = json.dumps(f"{work.method} of {work.model.name} on {work.tokens / 1e6:,.4g} M tokens")
    cell = cell_name(work.model.name, work.method, work.sequence)
    words = {"name": name, "title": title, "today": today, "cell": cell, "precision": PRECISION}
    told = {"title": title, "model": work.model.name, "method": work.method}
    made = {path: (studies / FROM / path).read_text(encoding="utf-8") for path in TAKEN}
    made["study.yaml"] = STUDY.format(**words)
    return made | {"workloads.yaml": WORKLOADS.format(tokens=work.tokens, sequence=work.sequence, **told)}
