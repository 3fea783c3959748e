"""What a run says while it measures: few lines however many steps there are, and no number past its end."""

import json
import re
from types import SimpleNamespace

from harness_runs import request
from sweetspot.harness import supervise

STEPS, STEP_S, LEAST = 36_137, 0.01, 5  # six minutes of quick steps, of which five would do


def test_thousands_of_steps_are_a_hundred_lines(monkeypatch, capsys):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(supervise, "time", clock)

    def steps():
        for _ in range(STEPS):
            clock.now += STEP_S
            yield json.dumps({"seconds": STEP_S, "timed": True}) + "\n"

    sampler = SimpleNamespace(stepped=lambda _: None, start=lambda: None, finish=dict)
    timed = supervise._listen(SimpleNamespace(stdout=steps()), request(min_steps=LEAST), {}, sampler)
    assert len(timed) == STEPS
    lines = capsys.readouterr().err.splitlines()
    # The first ten, then each a twentieth of the time spent later: ln(361 s / 0.1 s) / ln(1.05) is 168, less at first,
    # where a step is longer than that.
    assert 100 < len(lines) < 10 + 168
    told = [re.search(r"step (\d+)( of \d+)?,", line) for line in lines[1:]]
    assert [found[2] for found in told if int(found[1]) <= LEAST] == [f" of {LEAST}"] * LEAST
    assert {found[2] for found in told if int(found[1]) > LEAST} == {None}
