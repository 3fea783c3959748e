"""What the output of a script tells, line by line, without a process; others' lines are as they print them."""

import random
from json import loads

import pytest
from harness_runs import request
from sweetspot.harness.script_output import (
    MAX_LINE_BYTES,
    Interval,
    LineSplitter,
    StepClock,
    StepReader,
    lines_per_step,
)
from sweetspot.harness.script_output import StepReport as Report
from sweetspot.harness.script_run import Chunk, ScriptRun
from sweetspot.harness.step_times import mean_step
from sweetspot.study.scripts import Script


def script(steps):
    return Script(command="x", steps=steps)


def read(steps, *lines, samples=8):
    tells = StepReader(script(steps), samples).read
    return [tells(line) for line in lines]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"on", b"e\rtwo\r", b"\n\x1b[1mthr", b"ee\x1b[0m\nrest"), [("one", 1), ("two", 1), ("three", 3)]),
        # As tqdm and Keras draw: return and backspaces come with the next bar, after a validation perhaps.
        (
            (b"\r1/9 bar", b"\x08\x08\x08\r2/9 bar", b"\x08\x08\r9/9 bar\n", b"\r1/9 bar"),
            [("1/9 bar", 0), ("2/9 bar", 1), ("9/9 bar", 2)],
        ),
    ],
)
def test_lines_end_at_feeds_and_returns_and_have_the_moment_of_their_own_last_byte(pieces, lines):
    splitter = LineSplitter()
    assert [line for now, piece in enumerate(pieces) for line in splitter.split(piece, now)] == lines


def test_an_endless_line_is_cut_and_last_words_are_the_last():
    splitter = LineSplitter()
    for _ in range(50):
        assert list(splitter.split(b"y" * 100_000)) == []
    ((line, _),) = splitter.split(b"\n")
    assert len(line) == MAX_LINE_BYTES
    for number in range(100):
        list(splitter.split(b"line %d\n" % number))
    assert splitter.ending(30) == "line 97 | line 98 | line 99"
    assert LineSplitter().ending() == ""


# Printed by tqdm 4.67 in Trainer of transformers, by Lightning's TQDMProgressBar, and by Keras 3's progress bar.
BARS = {
    "huggingface": (
        ["Loading checkpoint shards: 100%|██████| 2/2 [00:01<00:00,  1.9it/s]", "Map: 100%|███| 900/900 [00:01<?]"],
        ["  3%|▎         | 15/500 [00:12<06:36,  1.22it/s]", "  3%|▎         | 16/500 [00:13<06:36,  1.22it/s]"],
        ["{'loss': 0.61, 'epoch': 0.1}", " 50%|█████     | 4/8 [00:00<00:00, 9.1it/s]"],  # an evaluation
    ),
    "lightning": (
        ["Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00, 30.1it/s]"],
        [
            "Epoch 0:  15%|█▌        | 15/100 [00:02<00:13,  6.45it/s, v_num=0]",
            "Epoch 0/999 ━━━━━━╸━━━━━━━━━━━━━━━━━━ 16/100 0:00:01 • 0:00:04 57.62it/s v_num: 0.00",  # by rich
        ],
        [
            "Validation ━━━━━━╸━━━━━━━━━━━━━━━━━━ 1/100 0:00:01 • 0:00:04 57.62it/s",
            "Validation DataLoader 0:  50%|█████     | 1/2 [00:00<00:00, 30.1it/s]",
        ],
    ),
    "keras": (
        ["Epoch 1/3"],
        ["     15/Unknown  1s 59ms/step", " 16/100 ━━━━━━━━━━━━━━━━━━━━ 5s 59ms/step - loss: 0.69"],
        [],
    ),
}


@pytest.mark.parametrize("program", BARS)
def test_the_bar_of_a_program_tells_the_step_and_other_bars_do_not(program):
    before, own, after = BARS[program]
    told = read(program, *before, *own, *after)
    assert [entry and entry.step for entry in told] == [None] * len(before) + [15, 16] + [None] * len(after)


def test_groups_of_a_pattern_say_more():
    pattern = r"(?P<step>[\d,]+)/\d+ (?:(?P<rate>[\d.]+) img/s|(?P<milliseconds>\d+) ms) loss (?P<loss>\S+)"
    lines = ("1,200/5000 16 img/s loss 0.5", "x 7/9 250 ms loss inf", "epoch 2", "8/9 250 ms loss 0.5]")
    assert read({"pattern": pattern}, *lines) == [
        Report(step=1200, seconds=0.5, loss=0.5),  # 8 samples at 16 a second
        Report(step=7, seconds=0.25, loss=float("inf")),
        None,
        Report(step=8, seconds=0.25),  # a loss that is no number is none, and no failure
    ]
    assert read({"pattern": r"(?P<steps_per_s>[\d.]+)it/s"}, "2.5it/s") == [Report(seconds=0.4)]


def test_json_lines_need_the_keys_that_were_named_but_the_loss():
    keys = {"step": "n", "seconds": "took", "loss": "l"}
    more = ['{"took": 1, "n": true, "l": NaN}', "[1]", "{", '{"n": "4", "took": 2}']
    told = read(keys, '{"n": 3, "took": 0.5}', '{"n": 3}', *more)
    assert told[:2] == [Report(step=3, seconds=0.5), None]
    assert (told[2].step, told[2].seconds, str(told[2].loss)) == (None, 1.0, "nan")
    assert told[3:] == [None, None, Report(step=4, seconds=2.0)]
    assert read(keys, '{"n": 1, "took": 0}', '{"n": 1, "took": 1e999}') == [Report(step=1), Report(step=1)]
    assert read(keys, "{" * 100_000) == [None]
    assert read({"steps_per_s": "it"}, '{"it": 2.5}') == [Report(seconds=0.4)]
    assert read({"rate": "r"}, '{"r": 16}') == read({"milliseconds": "ms"}, '{"ms": 500}') == [Report(seconds=0.5)]


SERIES = {  # steps a line, reports with their moments, intervals
    "numbers say how many steps passed": (
        1, [(Report(step=10), 100.0), (Report(step=20), 105.0), (Report(step=21), 106.0)],
        [None, Interval(0.5, 10), Interval(1.0, 1)]),
    "a line each five steps": (5, [(Report(), 0.0), (Report(), 10.0)], [None, Interval(2.0, 5)]),
    "lines that come together are one interval": (
        1, [(Report(), now) for now in (0.0, 3.0, 3.0, 3.001, 9.0)],
        [None, Interval(3.0, 1), None, None, Interval(2.0, 3)]),
    "a step that is drawn twice": (
        1, [(Report(step=1), 0.0), (Report(step=1), 2.0), (Report(step=2), 4.0)], [None, None, Interval(4.0, 1)]),
    "a new epoch": (
        1, [(Report(step=step), now) for step, now in ((99, 0.0), (100, 1.0), (1, 50.0), (2, 51.0))],
        [None, Interval(1.0, 1), None, Interval(1.0, 1)]),
    "the script's own time, and a clock that goes back": (
        1, [(Report(time=7.0), 0.0), (Report(time=7.5), 5.0), (Report(time=6.0), 6.0)],
        [None, Interval(0.5, 1), None]),
    # Ten steps in 0.3 s, whatever the line says; of the first nobody knows how many it ends.
    "a numbered line each ten steps": (
        1, [(Report(step=10 * line, seconds=0.03 + line), 0.3 * line) for line in (0, 1, 2)],
        [None, Interval(pytest.approx(0.03), 10), Interval(pytest.approx(0.03), 10)]),
    "seconds without a number": (
        2, [(Report(seconds=0.5), 0.0), (Report(seconds=0.25), 0.1), (Report(seconds=9, after_pause=True), 0.2)],
        [Interval(0.5, 2), Interval(0.25, 2), None]),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_reports_become_intervals(name):
    steps_per_line, reports, intervals = SERIES[name]
    clock = StepClock(steps_per_line)
    assert [clock.add(report, now) for report, now in reports] == intervals


@pytest.mark.parametrize(
    ("processes", "period", "jitter"),
    [(1, 0.03, 0.005), (2, 0.03, 0.001), (4, 0.03, 0.001), (8, 0.1, 0.001), (1, 0.004, 0.0)],
)
def test_several_processes_that_print_the_same_line_are_told(processes, period, jitter):
    dice = random.Random(3)
    moments = [step * period + dice.random() * jitter for step in range(40) for _ in range(processes)]
    assert lines_per_step(sorted(moments)) == processes


class Said:
    """A script that said these lines at these moments."""

    file = None

    def __init__(self, lines):
        self._lines = lines

    def chunks(self):
        for now, line in self._lines:
            yield Chunk(f"{line}\n".encode(), now, is_of_file=False)


def heard(capsys, steps, lines):
    """Seconds of a step of all that was timed, and the warnings that go to the run file."""
    asked = request(framework="command", batch_size=8, min_steps=1000, min_seconds=1000)
    run = ScriptRun(asked, script(steps), Said(lines))
    run.read_steps()
    (told,) = (
        fact["facts"]["told"] for line in capsys.readouterr().out.splitlines() if "facts" in (fact := loads(line))
    )
    return mean_step(run.measured.timed), told


WAYS = [  # of steps of a quarter of a second, two a line
    ({"pattern": "^done", "every": 2}, "done"),
    ({"pattern": r"(?P<seconds>[\d.]+) s a step", "every": 2}, "0.25 s a step"),
    ({"pattern": r"(?P<milliseconds>\d+)ms/step", "every": 2}, "250ms/step"),
    ({"pattern": r"(?P<rate>[\d.]+) samples/s", "every": 2}, "32 samples/s"),  # 8 a step
    ({"pattern": r"t (?P<time>[\d.]+)", "every": 2}, "t {now}"),
    ({"step": "n"}, '{{"n": {step}}}'),
]


@pytest.mark.parametrize(("steps", "line"), WAYS)
def test_each_way_to_tell_steps_gives_their_time(capsys, steps, line):
    lines = [(0.5 * place, line.format(now=0.5 * place, step=2 * place)) for place in range(9)]
    assert heard(capsys, steps, lines) == (pytest.approx(0.25), [])


def test_from_lines_to_warnings_two_processes_that_print_each_step_are_told(capsys):
    """A step takes half a second; lines of two processes make it a quarter, and the warning says by how much."""
    lines = sorted((0.5 * step + late, "done") for step in range(40) for late in (0.0, 0.02))
    seconds, ((rule, words),) = heard(capsys, {"pattern": "^done"}, lines)
    assert seconds == pytest.approx(0.25, rel=0.02)
    assert (rule, "2 times too high" in words) == ("repeated_lines", True)


def said_at(period, text, count=15):
    """Lines of steps that take `period` seconds each."""
    return [(period * step, text.format(step=step)) for step in range(count)]


CONTRADICTIONS = {
    # 8 samples a step, a step each 0.2 s: 40 samples/s; one of two devices says 20
    "rate of one of two devices": (
        {"pattern": r"batch (?P<step>\d+) speed (?P<rate>[\d.]+)"},
        said_at(0.2, "batch {step} speed 20.0 img/s"),
        (0.2, "20 samples/s (0.4 s a step)", "40 samples/s (0.2 s a step)", "clock's figure"),
    ),
    # without a number the script is taken at its word: 8 / 0.5 = 16 samples/s, though 0.25 s pass
    "more seconds than were spent": (
        {"pattern": r"(?P<seconds>[\d.]+) s a step"},
        said_at(0.25, "0.5 s a step"),
        (0.5, "16 samples/s (0.5 s a step)", "32 samples/s (0.25 s a step)", "script's figure"),
    ),
    # thousandths of a second taken for seconds: a step of 0.25 s would take 250
    "a time in milliseconds": (
        {"pattern": r"t (?P<time>[\d.]+)"},
        [(0.25 * step, f"t {250 * step}") for step in range(15)],
        (250.0, "0.032 samples/s (250 s a step)", "32 samples/s (0.25 s a step)", "script's figure"),
    ),
}


@pytest.mark.parametrize("fault", CONTRADICTIONS)
def test_a_script_whose_own_figures_contradict_the_clock_is_told_with_both(capsys, fault):
    steps, lines, (seconds, *values) = CONTRADICTIONS[fault]
    measured_s, warnings = heard(capsys, steps, lines)
    assert measured_s == pytest.approx(seconds)
    ((rule, words),) = warnings
    assert rule == "rate_disagrees"
    assert all(value in words for value in values), words


@pytest.mark.parametrize(("reported_ms", "rules"), [(104, []), (96, []), (107, ["rate_disagrees"])])
def test_five_in_a_hundred_are_no_contradiction(capsys, reported_ms, rules):
    pattern = {"pattern": r"(?P<step>\d+): (?P<milliseconds>\d+) ms"}
    seconds, warnings = heard(capsys, pattern, said_at(0.1, f"{{step}}: {reported_ms} ms", count=60))
    assert seconds == pytest.approx(0.1)
    assert [rule for rule, _ in warnings] == rules


def test_neither_a_first_step_that_compiles_nor_a_buffer_contradicts_the_clock(capsys):
    # A cumulative rate holds the 3 s of the first step long after; the clock of the timed steps does not.
    lines = [(3.0 + 0.1 * step, f"step {step} took 100 ms") for step in range(60)]
    told = heard(capsys, {"pattern": r"step (?P<step>\d+) took (?P<milliseconds>\d+) ms"}, [(0.0, "step 0"), *lines])
    assert told == (pytest.approx(0.1), [])
    # Steps of 0.1 s; ten lines come together each second.
    lines = [(1.0 * (step // 10), "100 ms") for step in range(80)]
    assert heard(capsys, {"pattern": r"(?P<milliseconds>\d+) ms"}, lines) == (pytest.approx(0.1), [])


def test_the_step_behind_a_validation_is_left_out_though_the_script_tells_its_time(capsys):
    """A step takes 0.1 s, every tenth holds 1 s of validation; of 60 steps six are left out."""
    now, lines = 0.0, []
    for step in range(1, 61):
        took = 1.1 if step % 10 == 0 else 0.1
        now += took
        lines += [(now, f"validation after {step}")] if took > 1 else []
        lines.append((now, f"it {step} took {1000 * took} ms"))
    for group in (r"(?P<step>\d+)", r"\d+"):  # by the clock, and at its word
        pattern = rf"it {group} took (?P<milliseconds>[\d.]+) ms"
        seconds, warnings = heard(capsys, {"pattern": pattern, "apart": "validation after"}, lines)
        assert seconds == pytest.approx(0.1)
        assert [rule for rule, _ in warnings] == ["validation"]


def tqdm_with_evaluation(epochs, steps, step_s, evaluation_s):
    """A bar by `set_postfix`, which draws each step twice, and a nested bar of an evaluation at the end of each epoch.

    After the evaluation the bar of training draws its old count once more.
    """
    now, lines = 0.0, []
    for epoch in range(epochs):
        for step in range(1, steps + 1):
            now += step_s
            bar = f"{step}%|██| {epoch * steps + step}/{epochs * steps} [00:01<00:02, 9.9it/s"
            lines += [(now, f"{bar}]"), (now, f"{bar}, loss=0.5]")]
        for part in (1, 2):
            now += evaluation_s / 2
            lines.append((now, f"Evaluating: 50%|██| {part}/2 [00:01<00:02, 9.9it/s]"))
        lines.append((now, f"{bar}, loss=0.5]"))
    return lines


def test_the_clock_starts_behind_a_pause_at_a_new_count_and_a_pause_is_counted_once(capsys):
    """Ten steps of 0.1 s an epoch, then an evaluation of 3 s; a redraw of the old count is no step of 0.1 s."""
    seconds, warnings = heard(capsys, "huggingface", tqdm_with_evaluation(4, 10, 0.1, 3.0))
    assert seconds == pytest.approx(0.1)
    ((rule, words),) = warnings
    assert rule == "validation"
    assert words.startswith("4 spells")  # of eight bars of evaluation, each twice a pause


@pytest.mark.parametrize(
    ("period", "count", "told"), [(0.01, 49, 0), (0.01, 50, 1), (0.01, 500, 1), (10.0, 6, 0), (10.0, 7, 1)]
)
def test_a_pattern_that_never_matches_is_said_after_fifty_lines_or_a_minute(capsys, period, count, told):
    lines = [(period * number, f"loading shard {number}") for number in range(count)]
    asked = request(framework="command", batch_size=8)
    ScriptRun(asked, script({"pattern": "^step"}), Said(lines)).read_steps()
    news = [loads(line)["news"] for line in capsys.readouterr().out.splitlines() if "news" in line]
    assert len(news) == told
    last = min(count, 50) - 1
    assert all(f"the last line is 'loading shard {last}'" in words for words in news)


# Keras 3.15, fit(verbose=2) of five epochs of 100 steps: the seconds at which a pipe brought each line.
EPOCHS = [
    (36129.725, "100/100 - 1s - 8ms/step - loss: 0.7855"),
    (36130.356, "100/100 - 1s - 6ms/step - loss: 0.6778"),
    (36130.842, "100/100 - 0s - 5ms/step - loss: 0.6323"),
    (36131.469, "100/100 - 1s - 6ms/step - loss: 0.5963"),
    (36132.065, "100/100 - 1s - 6ms/step - loss: 0.5426"),
]


def test_epochs_without_a_bar_are_timed_by_the_clock(capsys):
    # Three lines start and warm up. A stopwatch in that process (on_epoch_end) told the end of epochs three and five.
    seconds = (36132.06521 - 36130.84192) / 200
    assert heard(capsys, "keras_lines", EPOCHS) == (pytest.approx(seconds, rel=1e-3), [])
