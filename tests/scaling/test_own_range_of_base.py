"""The range that a person states for a speed goes through to the machine that is extrapolated from it."""

import datetime
import math

import pandas as pd
import pytest
from sweetspot.scaling.across_nodes import Across
from sweetspot.scaling.targets import Fitted, as_evidence, extrapolate_all, scaling_curve, target_cells
from sweetspot.study.instances import load_instances
from sweetspot.study.study import Question, Target
from sweetspot.throughput.gather import gather_throughput
from widths import one_width

INSTANCES = """
one: {title: One device, provider: own, gpu: RTX 4090, gpus: 1}
four: {title: Four devices, provider: own, gpu: RTX 4090, gpus: 4, interconnect: pcie}
"""
HEADER = "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,"
ROW = "RTX 4090,one,1,tensorflow,2.15,own,resnet50,64,fp16,default,synthetic,"
QUESTION = Question(model=["resnet50"], batch_size=[64], precision="fp16", headline_batch_size=64)


def predicting(facts):
    """Every machine at 80 %, with a spread of one."""
    return pd.DataFrame({"efficiency": 0.8, "scale": 1.0}, index=facts.index)


# 90 % of the figures held out lie within 0.2 of the logarithm of what this method says.
FITTED = Fitted(
    {"amdahl": predicting}, {"amdahl": one_width(0.1, 0.2)}, pd.DataFrame(), 8.0, Across({"": 0.02}, 0.03, 0.04, 8), 8
)


def extrapolated(folder, columns, values):
    """The row of the four devices and its curve, where one device's figure stands as `values`."""
    (folder / "instances.yaml").write_text(INSTANCES)
    (folder / "throughput.csv").write_text(f"{HEADER}{columns},source,note\n{ROW}{values},our own runs,\n")
    instances = load_instances(folder / "instances.yaml")
    throughput = gather_throughput([], QUESTION, datetime.date(2026, 1, 1).isoformat(), instances, folder)
    targets = [Target(instance="four", base_instance="one", gpus=4)]
    cells = target_cells(throughput, targets, QUESTION, instances)
    curve = scaling_curve(cells, instances, FITTED, "amdahl")
    return extrapolate_all(cells, as_evidence(cells, instances), FITTED, "amdahl").iloc[0], curve


def test_a_machine_extrapolated_from_a_stated_range_is_less_certain(tmp_path):
    plain, one_curve = extrapolated(tmp_path, "images_per_s", "1400")
    ranged, other_curve = extrapolated(tmp_path, "images_per_s,images_per_s_low,images_per_s_high", "1400,1260,1610")
    # 4 x 1400 x 0.8; alone the method leaves a factor exp(0.2) on either side.
    assert plain["images_per_s"] == ranged["images_per_s"] == pytest.approx(4480)
    assert plain["images_per_s_high"] == pytest.approx(4480 * math.exp(0.2))
    # 1260/1400 = 0.9, ln -0.10536; 1610/1400 = 1.15, ln 0.13976: 95 % ends, at 90 % x 1.6449/1.9600 = 0.83925:
    # 0.08842 and 0.11730. sqrt(0.2^2 + 0.08842^2) = 0.21867, sqrt(0.2^2 + 0.11730^2) = 0.23186.
    assert ranged["images_per_s_low"] == pytest.approx(4480 * math.exp(-0.21867), rel=1e-4)
    assert ranged["images_per_s_high"] == pytest.approx(4480 * math.exp(0.23186), rel=1e-4)
    # What four devices make of one is no more uncertain for that.
    pd.testing.assert_frame_equal(one_curve, other_curve)
    assert one_curve["high"].iloc[0] == pytest.approx(0.8 * math.exp(0.2))
