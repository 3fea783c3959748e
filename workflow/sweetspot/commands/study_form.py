"""From the ten answers to a study in the project, by what `new-study` and `add-offer` write; then the page's answer."""

import datetime
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from sweetspot.commands.command_line import main
from sweetspot.commands.create_study import create_study, csv_rows
from sweetspot.commands.offer_files import Desk, files_of_offer
from sweetspot.commands.offer_line import BOX
from sweetspot.commands.read_study import read_study
from sweetspot.commands.scratch import read_text, said_of, scratch_config, write_text
from sweetspot.commands.study_of_today import OWN, Own, Work
from sweetspot.commands.study_questions import Answers, Speed, wide
from sweetspot.errors import UserError, refuse
from sweetspot.facts.shipped_tables import OF_DEVICES, figures_file
from sweetspot.throughput.published import THROUGHPUT_CSV
from sweetspot.transfer.figures import network_name, shipped_devices
from sweetspot.transfer.specifications import Device

USUAL = "RTX 4090"  # where nothing is had and nothing was timed: the device whose published figure serves
PRECISION, FRAMEWORKS = "fp16", ("torch", "tensorflow")  # of published figures that serve; the first counts before
SHOWN = ("workloads.yaml", "prices/box.yaml", "prices/offers.yaml", "throughput.csv")


def published(studies: Path) -> list[dict[str, str]]:
    """The shipped figures of single devices that may stand for a speed that nobody timed."""
    devices = shipped_devices()
    return [
        row
        for name in OF_DEVICES
        for row in csv_rows(figures_file(name, studies))
        if row["gpus"] == "1" and row["precision"] == PRECISION and row["framework"] in FRAMEWORKS
        and row["batch_size"] and devices.find(row["gpu"]) is not None
    ]  # fmt: skip


def make_study(answers: Answers, root: Path, rows: list[dict[str, str]], today: datetime.date) -> Path:
    """Write the study, whole or not at all, after showing it; its folder. Raises UserError."""
    own = _own(answers, rows, today)
    target = root / "studies" / answers.name
    sentences: list[str] = []
    with scratch_config(root, answers.name) as scratch:
        folder = create_study(
            answers.name, scratch, (OWN, own.device.gpu), today, own, answers.jobs.devices, _work(answers)
        )
        for line, offered in answers.offers:
            if offered.kind == BOX:
                kwh = answers.per_kwh if offered.currency == answers.currency[0] else None
                offered = offered._replace(per_kwh=offered.per_kwh or kwh, months=offered.months or answers.months)
            made = files_of_offer(Desk(scratch, answers.name, None, None, answers.currency[1], today, line), offered)
            for path, text in made.texts.items():
                write_text(folder / path, text)
            sentences += made.sentences
        refuse(said_of(read_study(answers.name, scratch), scratch, root))
        _show(folder, target, sentences)
        if target.exists():
            raise UserError(f"{target}: the study exists; choose another name or edit it")
        shutil.move(folder, target)
    return target


def _show(folder: Path, target: Path, sentences: list[str]) -> None:
    """What will be written: the files of the person's own figures in full, the others by their names."""
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    print(f"\nThis is written to {target}: {', '.join(str(file) for file in files)}")
    for name in SHOWN:
        text = read_text(folder / name)
        if text:
            print(f"\n--- {name}\n{text}", end="")
    print("".join(f"\n{sentence}" for sentence in sentences))


def _own(answers: Answers, rows: list[dict[str, str]], today: datetime.date) -> Own:
    """What is there, or of what a speed is known, and that speed."""
    devices, speed = shipped_devices(), answers.speed
    device = answers.have.device if answers.have else devices.get(speed.gpu or USUAL)
    row: dict[str, Any]
    if speed.rate is not None:
        row = {"gpu": speed.gpu or device.gpu, "gpus": 1, "framework": "torch", "benchmark": "own"}
        row |= {"model": speed.model, "batch_size": 64, "precision": PRECISION, "variant": "default"}
        ends = {f"images_per_s{part}": end for part, end in zip(("", "_low", "_high"), speed.rate, strict=True)}
        row |= {name: f"{end:g}" for name, end in ends.items() if end is not None}
        row |= {"as_of": today, "source": f"timed by us, given to sweetspot new-study --ask on {today}"}
    else:
        known = _nearest(speed, device, rows)
        row = {name: known[name] for name in (*THROUGHPUT_CSV, "as_of") if known.get(name)}
        row["gpu"] = devices.get(known["gpu"]).gpu
        device = device if answers.have else devices.get(known["gpu"])
        if not speed.known:
            _, low, high = wide(float(row["images_per_s"]))
            row |= {"images_per_s_low": f"{low:g}", "images_per_s_high": f"{high:g}"}
    cell = (row["model"], PRECISION, row["framework"], int(row["batch_size"]), float(row["images_per_s"]))
    return Own(device, OWN, *cell, *answers.currency, row)


def _nearest(speed: Speed, device: Device, rows: list[dict[str, str]]) -> dict[str, str]:
    """The published figure of the network on the device, else on that with the nearest peak."""
    devices, peak = shipped_devices(), device.peak(PRECISION)

    def far(row: dict[str, str]) -> tuple[bool, float, int, float]:
        other = devices.get(row["gpu"])
        apart = abs(math.log(other.peak(PRECISION) / peak)) if other.peak(PRECISION) > 0 and peak > 0 else math.inf
        return other != device, apart, FRAMEWORKS.index(row["framework"]), -float(row["images_per_s"])

    return min((row for row in rows if network_name(row["model"]) == network_name(speed.model)), key=far)


def _work(answers: Answers) -> Work:
    jobs, have = answers.jobs, answers.have
    size: dict[str, Any] = {"samples": f"{jobs.size:.15g}"}
    if jobs.unit == "hours":
        size = {"hours": jobs.size, "instance": OWN}
    return Work(
        have=have.machines if have else 0,
        months=answers.months.value,
        used_months=answers.months.written(),
        size=size,
        per_month=jobs.per_month.written(),
        urgent=None if answers.urgent is None else (answers.urgent[0].written(), answers.urgent[1]),
        limits=answers.limits,
        kw=have.kw.written() if have and have.kw else None,
        per_kwh=answers.per_kwh.written(),
        box=not answers.offers,
        source="answered to sweetspot new-study --ask",
    )


def answer(name: str, root: Path) -> int:
    """Run the study's workflow, without measuring, and print its answer; the exit code of `sweetspot ask`."""
    project = root.resolve().parent
    if not (project / "Snakefile").is_file():
        print(f"{root / 'studies' / name} is ready; `make report STUDY={name}` gives its answer.")
        return 0
    command = [sys.executable, "-m", "snakemake", "--cores", "all", "--config", f"study={name}", "measure_on=[]"]
    done = subprocess.run(command, cwd=project, check=False)
    if done.returncode != 0:
        raise UserError(f"the workflow ended without an answer; `make report STUDY={name}` goes on with it")
    print(f"\nReport: {project / 'results' / name / 'report' / 'index.html'}\n")
    return main(["ask", name, "--config", str(root), "--results", str(project / "results")])
