"""Create the folder of a new study from commented templates: about one GPU, or about work by tokens."""

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from sweetspot.bills.lint.known import device_key, price_range
from sweetspot.cells import is_slug
from sweetspot.commands.doctor import nvidia_gpus
from sweetspot.commands.estimate import load_rentals, parse_work
from sweetspot.commands.read_study import read_study
from sweetspot.commands.render import TEMPLATES, render
from sweetspot.errors import UserError, refuse
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.files import in_a_sentence, write_text
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.open_models import cell_name
from sweetspot.study.study import check_study_name
from sweetspot.study.terms import wrong_rate
from sweetspot.study.yamlfile import load_yaml
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.mfu import PRECISION
from sweetspot.transfer.plausibility import MIN_OF_PEAK, beyond_peak_factor
from sweetspot.transfer.specifications import Device

TOKEN_STUDY = "fine-tune-2026"
TOKEN_FILES = ("instances.yaml", "prices/buying.yaml", "prices/rent.yaml", "prices/rent-amd.yaml")
TIMED, MEASURED = "mine", "workstation-gpu"  # instances: a GPU that somebody timed, and that of this machine
# What is measured of this machine's GPU (config.yaml), and what somebody timed, where nothing else is said.
MEASURED_CELL = {"model": "resnet50", "batch_size": 16, "precision": "fp32", "framework": "tensorflow"}
TIMED_CELL = {"model": "resnet50", "batch_size": 64, "precision": "fp16", "framework": "torch"}
USUAL_COUNT = 4
# kW of a host's share for each device, and what a box draws at the plug over the limits of its devices and its host:
# 1.6 to 2.5 kW of 2.2, as office-box-2026 assumes.
HOST_KW, LOAD_RANGE = 0.1, (1.6 / 2.2, 2.5 / 2.2)
RATES: dict[str, dict[str, Any]] = load_yaml(TEMPLATES / "rates.yaml")


@dataclass(frozen=True)
class OfferedBox:
    """A machine that one may buy; `capex` in the study's currency, `kw` under load, `is_offered`: to this person."""

    instance: str
    gpu: str
    gpus: int
    capex: Any
    kw: Any
    source: str
    as_of: str
    weeks: float | None = None
    is_offered: bool = False


@dataclass(frozen=True)
class StudyRequest:
    """The answers and options of `sweetspot new-study`; None where nothing was said. With `work` (training on tokens,
    e.g. 'llama-3.1-8b lora 100M tokens') the study is about that, else about a GPU: `gpu_name` timed at `speed`
    samples per second, or this machine's; TIMED_CELL or MEASURED_CELL hold what is not said of the cell (model, batch,
    precision, framework). `rate`: USD for one unit of `currency`, which `offer_price` is in.
    """

    name: str
    config: Path = Path("config")
    work: str | None = None
    gpu_name: str | None = None
    model: str | None = None
    speed: float | None = None
    batch_size: int | None = None
    precision: str | None = None
    framework: str | None = None
    devices_per_job: int | str = "all"
    jobs_per_month: float | None = None
    samples_per_job: float | None = None
    currency: str = "USD"
    rate: float | None = None
    offer_price: float | None = None
    offer_device: str | None = None
    offer_count: int | None = None
    offer_kw: float | None = None
    offer_delivery_weeks: float | None = None

    @property
    def cell(self) -> dict[str, Any]:
        """Model, batch size, precision and framework that were said."""
        return {name: value for name in MEASURED_CELL if (value := getattr(self, name)) is not None}

    @property
    def has_offer(self) -> bool:
        """True if anything was said of a machine on offer, be it 0."""
        return any(name.startswith("offer_") and value is not None for name, value in vars(self).items())


def run(request: StudyRequest) -> int:
    """Run `sweetspot new-study`: write the study that `request` describes and check it; return 0, else UserError."""
    folder = create_study(request, date.today())
    is_measured = request.work is None and request.gpu_name is None
    chosen = {"study": folder.name} | ({"measure_on": MEASURED} if is_measured else {})
    try:
        refuse(sentence for _, sentence in read_study(folder.name, request.config).errors)
        plan = load_invocation(request.config / "config.yaml", chosen, request.config)
    except UserError:
        shutil.rmtree(folder)
        raise
    if request.jobs_per_month is None or (request.work is None and request.samples_per_job is None):
        print("The work of a month is assumed: lines marked `# <- yours` in workloads.yaml.")
    cell = MEASURED_CELL | request.cell
    if is_measured and not any(cell.items() <= planned._asdict().items() for planned in plan.cells):
        lines = ", ".join(f"{name}: [{value}]" for name, value in cell.items())
        print(f"{request.config / 'config.yaml'}: matrix does not hold the cell of study.yaml; set {lines}")
    print(f"{folder} is ready. Put in what is yours, then: make report STUDY={folder.name}{' GPU=1' * is_measured}")
    return 0


def create_study(request: StudyRequest, today: date) -> Path:
    """Write the files of a new study, config/studies/<name>/, from templates filled with the user's answers, whole or
    not at all; return the folder. UserError for answers that make no study. `today`: date of what is assumed.
    """
    name, folder = request.name, request.config / "studies" / request.name
    if not is_slug(name):
        raise UserError(f"NAME is {name!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    if not folder.parent.is_dir():
        raise UserError(f"{folder.parent}: the folder is needed and does not exist; expected --config of a project")
    check_study_name(name, folder.parent)
    if folder.exists():
        raise UserError(f"{folder}: the study exists; choose another name or edit it")
    currency, rate = _currency_and_rate(request, today)
    usd = rate["usd"]
    values: dict[str, Any] = {
        "request": request,
        "today": today.isoformat(),
        "currency": currency,
        "rate": rate,
        "usd_per_unit": usd["value"] if isinstance(usd, Mapping) else usd,
    }
    texts = _gpu_texts(request, values) if request.work is None else _token_texts(request, values)
    with in_a_sentence(folder), tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as scratch:
        for path, text in texts.items():
            write_text(Path(scratch) / name / path, text)
        shutil.move(Path(scratch) / name, folder)
    return folder


def _currency_and_rate(request: StudyRequest, today: date) -> tuple[str, dict[str, Any]]:
    """Return the currency of a new study's page and prices, (code, {usd, as_of, source} of its exchange rate): --rate,
    else the shipped RATES. UserError for an unknown currency or an impossible rate.
    """
    currency, usd = request.currency.upper(), request.rate
    if not re.fullmatch("[A-Z]{3}", currency):
        raise UserError(f"--currency is {currency!r}; expected three letters, such as EUR")
    if usd is None and currency not in RATES:
        raise UserError(f"--currency is {currency!r}; expected {', '.join(RATES)}, or --rate: USD per {currency}")
    if usd is None:
        return currency, RATES[currency]
    if wrong := wrong_rate(currency, usd, today):
        raise UserError(f"--rate is {usd:g} USD for one {currency}; {wrong}")
    source = f"typed by us on {today} (--rate of sweetspot new-study)"
    return currency, {"usd": usd, "as_of": today.isoformat(), "source": source}


def _token_texts(request: StudyRequest, values: dict[str, Any]) -> dict[str, str]:
    """Return the files of a new study about training a language model, {path in the study's folder: text}. `values`:
    what the templates know already (date, currency, rate); the rest is added.
    """
    if request.gpu_name or request.speed or request.samples_per_job or request.has_offer or request.cell:
        raise UserError("--work is given with options of a GPU or of an offer; expected one of them")
    job = parse_work(str(request.work))
    cell = cell_name(job.model.name, job.method, job.sequence)
    values |= {"tokens": job, "cell": {"model": cell, "batch_size": 1, "precision": PRECISION, "framework": "torch"}}
    files = {path: figures_file(TOKEN_STUDY, request.config / "studies", path) for path in TOKEN_FILES}
    texts = {path: file.read_text(encoding="utf-8") for path, file in files.items()}
    return texts | {path: render(path, **values) for path in ("study.yaml", "workloads.yaml")}


def _gpu_texts(request: StudyRequest, values: dict[str, Any]) -> dict[str, str]:
    """Return the files of a new study about one GPU, that was timed or is in this machine, {path in the study's
    folder: text}. `values`: what the templates know already (date, currency, rate); the rest is added.
    """
    studies, devices = request.config / "studies", shipped_devices()
    is_timed = request.gpu_name is not None
    if is_timed != (request.speed is not None):
        raise UserError("--gpu-name and --speed belong together; expected both: a device, and samples per second")
    gpus = [request.gpu_name] if request.gpu_name else nvidia_gpus()[0]
    if not gpus:
        raise UserError("this machine shows no NVIDIA GPU; expected one that you timed: --gpu-name, --speed")
    device = devices.get(gpus[0])
    cell = (TIMED_CELL if is_timed else MEASURED_CELL) | request.cell
    _check_cell(cell, device)
    if request.speed is not None:
        _check_speed(request.speed, cell, device)
    office = load_yaml(figures_file("office-box-2026", studies, "prices/office.yaml"))
    box = _box(request, device, office, values)
    rentals, rented = load_rentals(studies, device.maker)
    owned = TIMED if is_timed else MEASURED
    values |= {
        "tokens": None,
        "cell": cell,
        "gpu": device.gpu,
        "is_timed": is_timed,
        "owned": owned,
        "owned_kw": device_kw(device, 1) or 0,
        "box": box,
        "us_per_kwh": office["offers"][0]["own"]["per_kwh"],
        "machines": _machines(owned, device, box, rented),
        "rentals": rentals,
    }
    paths = ["study.yaml", "instances.yaml", "workloads.yaml", "prices/box.yaml", "prices/rent.yaml"]
    return {path: render(path, **values) for path in paths + ["throughput.csv"] * is_timed}


def _check_cell(cell: Mapping[str, Any], device: Device) -> None:
    """Raise UserError for options of new-study that no run could have: a model that is no name, or a precision in
    which the device does not compute. `cell`: {`model`, `precision`, ...: value}.
    """
    model, precision = cell["model"], cell["precision"]
    if not is_slug(model):
        raise UserError(f"--model is {model!r}; expected letters, digits, '.', '_' and '-'")
    if not device.computes(precision):
        raise UserError(f"--precision is {precision!r}; {device.gpu} does not compute in {precision}")


def _check_speed(speed: float, cell: Mapping[str, Any], device: Device) -> None:
    """Raise UserError if --speed (samples per second) cannot be right: above the device's peak, or so far below that
    its unit is wrong. `cell`: {`model`, `precision`, ...: value}.
    """
    factor = beyond_peak_factor(device, cell["precision"], cell["model"], speed)
    if factor > 1:
        peak = f"what one {device.gpu} can do at its dense peak in {cell['precision']}"
        raise UserError(f"--speed is {speed:g}; expected less: it is {factor:.3g} times {peak}")
    if factor < MIN_OF_PEAK:
        raise UserError(f"--speed is {speed:g}, {factor:.1g} of what one {device.gpu} can do; wrong unit?")


def _box(request: StudyRequest, owned: Device, office: Mapping[str, Any], values: dict[str, Any]) -> OfferedBox | None:
    """Return the machine that a new study considers buying: that on offer, else a box of the owned device; None
    without a price. `office`: the price list of study office-box-2026, for a box; `values`: of the templates (day,
    currency). Raises UserError for details of an offer without its price.
    """
    if request.offer_price is None:
        if request.has_offer:
            raise UserError("an --offer- option is given without --offer-price; expected the price of the machine")
        return _office_box(owned, office, values)
    device = shipped_devices().get(request.offer_device) if request.offer_device else owned
    count = request.offer_count or USUAL_COUNT
    kw = request.offer_kw or device_kw(device, count) or 0
    source = f"the offer on our desk, given to sweetspot new-study on {values['today']}"
    return OfferedBox(
        instance=f"box-{count}",
        gpu=device.gpu,
        gpus=count,
        capex=request.offer_price,
        kw=kw,
        source=source if request.offer_kw else f"{source}; power {'by data sheet' if kw else 'unknown'}",
        as_of=values["today"],
        weeks=request.offer_delivery_weeks,
        is_offered=True,
    )


def _office_box(device: Device, office: Mapping[str, Any], values: Mapping[str, Any]) -> OfferedBox | None:
    """Return a box of USUAL_COUNT devices to buy, priced by the list `office` in `currency` of `values`, or None."""
    name = f"office-{USUAL_COUNT}x{device.gpu.lower().replace('rtx', '').replace(' ', '')}"
    offer = next((offer for offer in office["offers"] if offer["instance"] == name), None)
    if offer is None:
        return None
    capex, source, currency = offer["own"]["capex"], offer["source"], values["currency"]
    if currency != "USD":
        capex = {name: round(usd / values["usd_per_unit"] / 10) * 10 for name, usd in capex.items()}
        source += f"; in {currency} at {values['usd_per_unit']:g} USD; electricity assumed"
    as_of, kw = str(office["as_of"]), offer["own"]["kw"]
    return OfferedBox(f"box-{USUAL_COUNT}", device.gpu, USUAL_COUNT, capex, kw, source, as_of)


def device_kw(device: Device, count: int) -> dict[str, float] | None:
    """Return the power under load of `count` devices and their share of a host, {value, low, high} in kW, for
    electricity costs of a new study; None if the device's power is unknown.
    """
    watts = price_range("power", device_key(device.gpu))
    if watts is None:
        return None
    kw = count * (watts[1] / 1000 + HOST_KW)
    return {"value": round(kw, 4), "low": round(kw * LOAD_RANGE[0], 4), "high": round(kw * LOAD_RANGE[1], 4)}


def _machines(
    owned: str, device: Device, box: OfferedBox | None, rented: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the entries of a new study's instances.yaml by name: machines owned, on offer (`box`) and `rented`.
    `owned`: the name of the machine with `device`. One of several devices is estimated from one, declared if new.
    """
    machines = {TIMED: _machine(device.gpu, device.gpu, 1)} if owned == TIMED else {}
    if box is not None:
        machines[box.instance] = _machine(f"box with {box.gpus} {box.gpu}", box.gpu, box.gpus)
    machines |= rented
    base_by_gpu = {machine["gpu"]: name for name, machine in reversed(list(rented.items())) if machine["gpus"] == 1}
    for name, machine in list(machines.items()):
        gpu, is_box = machine["gpu"], box is not None and name == box.instance
        if machine["gpus"] > 1 or is_box:
            base = base_by_gpu.setdefault(gpu, f"one-{gpu.lower().replace(' ', '-')}")
            base = owned if is_box and gpu == device.gpu else base
            if base not in machines and base != MEASURED:
                machines[base] = _machine(f"1 {gpu}", gpu, 1)
            machines[name] = machine | {"base_instance" if machine["gpus"] > 1 else "equivalent_to": base}
    return machines


def _machine(title: str, gpu: str, count: int) -> dict[str, Any]:
    """Return an entry of instances.yaml for a machine with `count` devices."""
    machine = {"title": title, "provider": "own", "gpu": gpu, "gpus": count}
    return machine if count == 1 else machine | {"interconnect": "nvswitch" if "SXM" in gpu else "pcie"}
