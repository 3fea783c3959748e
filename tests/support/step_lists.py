"""What steps tell, of steps that were each timed alone."""

from harness_runs import request
from sweetspot.harness import step_times
from sweetspot.harness.step_times import Interval


def even(seconds):
    return [Interval(float(value)) for value in seconds]


def half_width(seconds):
    return step_times.half_width(even(seconds))


def may_stop(seconds, **rule):
    return step_times.may_stop(even(seconds), request(**{"least_seconds": 0} | rule), sum(seconds))


def step_warnings(seconds):
    return step_times.step_warnings(even(seconds))
