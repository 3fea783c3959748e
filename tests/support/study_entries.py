"""The least that each kind of entry of a study needs, for tests that add one key to it."""

from datetime import date

SOURCE = {"source": "s"}

MATRIX = {"model": ["vgg16"], "batch_size": [16]}

CONFIG = {"study": "s", "measure_on": ["here"], "matrix": MATRIX}

SLURM = {"where": "slurm", "device": "gpu", "partition": "p"}

MACHINE = {"title": "x", "provider": "own", "gpu": "V100", "gpus": 1}

LOG = {"format": "tf_cnn_benchmarks", "path": "x.log", "precision": "fp32", "instance": "x", **SOURCE}

QUESTION = {"model": ["vgg16"], "batch_size": [16], "precision": "fp32", "headline_batch_size": 16}

STUDY = {"name": "s", "title": "t", "question": "q", "as_of": date(2018, 1, 1), "cells": QUESTION,
         "sources": [{"id": "a", "title": "t", "date": "2018"}]}  # fmt: skip

OWN = {"capex": 1.0, "months": 1.0, "kw": 0.0, "per_kwh": 0.0, "days_per_month": 1.0}

PLAN = {"kind": "plan", "model": "m", "instance": "x", "parallel": 1, **SOURCE}

PRICES = {"as_of": date(2018, 1, 1), **SOURCE}

TAKEN = {"checkpoint_s": 60.0, **SOURCE}
