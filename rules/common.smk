"""The plan of this invocation and the names that the rules share; no rules."""

import hashlib
import shlex
from functools import cache
from types import SimpleNamespace

from snakemake.settings.types import DeploymentMethod

import sweetspot
from sweetspot.cells import RUN_PATTERN, SLUG, WILDCARD_CONSTRAINTS
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.files import checksum, require_writable
from sweetspot.matrix.invocation import instance_files, load_invocation
from sweetspot.matrix.jobs import Jobs
from sweetspot.matrix.process import run_script, scripts_of
from sweetspot.matrix.reruns import NOTES, attempts
from sweetspot.matrix.schedule import (
    BENCHMARKS,
    select_runs,
    skipped_rows,
    missing_runs,
    selection_text,
    run_file,
)
from sweetspot.study.price_list import history_days, lists_at


def made(path: str) -> str:
    """Where a file that the rules make lies: for a module with a prefix, below that."""
    return workflow.modifier.path_modifier.replace_prefix(path)


PREFIXED = made("results/benchmarks") != "results/benchmarks"

# Where results lie in a bucket or on a volume.
STORED = workflow.storage_settings.default_storage_provider is not None


def given(files):
    """A file (or several) that the rules find here: neither a prefix nor a storage provider, which are for what they
    make, moves it. Only rules that stay on this machine read one."""
    return local(files) if PREFIXED or STORED else files


def contents(*files) -> list[str]:
    """What files that people write hold, as a param of the rules that read them: content decides, not time. A file that
    is moved or copied here may be older than what its predecessor made."""
    return [checksum(file) for file in map(Path, files) if file.is_file()]


try:
    # A module that is handed a `config:` has its whole configuration from there.
    INVOCATION = load_invocation(
        None if workflow.modifier.skip_configfile else Path("config/config.yaml"),
        config,
    )
    # Said here because Snakemake would show its own traceback when it first removes or makes a file there.
    if not workflow.output_settings.dryrun:
        require_writable(made("results"), made("results/benchmarks"))
except UserError as error:
    raise WorkflowError(str(error)) from None

STUDY = INVOCATION.config.study
STUDIES = Path("config/studies")
CONFIG = f"config/studies/{STUDY}"
RESULTS = f"results/{STUDY}"
REPORT = f"{RESULTS}/report"
PRICE_LISTS = list(INVOCATION.price_lists)
# Relative where the project runs in its own folder: moving that then changes no job.
LIBRARY = os.path.relpath(Path(sweetspot.__file__).parent)
# Machines of one's own come first; a study without any still has its published ones.
INSTANCE_FILES = [
    str(file) for file in instance_files(Path("config"), STUDY) if file.is_file()
]
SCRIPTS = (
    HOME / "workflow" / "scripts"
    if HOME
    else scripts_of(lambda name: workflow.source_path(f"../workflow/scripts/{name}.py"))
)

# What is measured stays; of the rest, what fits into the budget. A job on a node does not choose again.
BUDGET_MINUTES = INVOCATION.config.measure.budget_minutes
BUDGET = ""
if workflow.is_main_process and BUDGET_MINUTES is not None:
    BUDGET = f"budget_minutes {BUDGET_MINUTES:g}"
SELECTION = select_runs(
    INVOCATION, Path(made(str(BENCHMARKS))), use_budget=bool(BUDGET)
)
RUNS = [str(run_file(BENCHMARKS, run)) for run in SELECTION.selected]
PLACES = {made(file): file for file in RUNS} if PREFIXED else dict(zip(RUNS, RUNS))
MISSING_RUNS = [
    PLACES[place]
    for place in missing_runs(list(PLACES), Path(made(f"{RESULTS}/throughput.parquet")))
]
ATTEMPTS = attempts() if workflow.is_main_process else {}
JOBS = Jobs(INVOCATION, ATTEMPTS)
if SELECTION.skipped:
    logger.warning(f"{BUDGET}: {selection_text(SELECTION)}")


wildcard_constraints:
    **WILDCARD_CONSTRAINTS,
    price_list=SLUG,


def beside(*files: Path) -> list[str]:
    """Paths as inputs: of the library relative to this folder, so that moving both changes no job."""
    return [os.path.relpath(file) for file in files]


@cache
def digest_of_files(pattern: str) -> str:
    """Digest of the contents of those files of the library."""
    files = sorted(file for file in Path(LIBRARY).glob(pattern) if file.is_file())
    return hashlib.sha256("".join(map(checksum, files)).encode()).hexdigest()


def formula(*rooms: str, others: tuple[str, ...] = ()) -> str:
    """Digest of every module and table of those rooms, of the ground and of `others`, as a parameter.

    A rule that they decide reruns when one changes. As inputs, a hundred files a rule, they would fill a dry run.
    """
    ground = [
        "cells.py",
        "declared_tables.py",
        "errors.py",
        "files.py",
        "warnings.py",
        "wording.py",
        "frameworks.py",
        "platforms.py",
        "spelling.py",
        "titles.py",
        "transformers.py",
        "facts/*.*",
    ]
    if not {"decision", "report"}.isdisjoint(rooms):
        ground += ["choice_kinds.py", "draws.py"]
    modules = [
        f"{room}/**/*.{kind}" for room in rooms for kind in ("py", "csv", "json")
    ]
    digests = map(digest_of_files, [*ground, *modules, *others])
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def here(script: str, input, output, log, params=None, wildcards=None) -> None:
    """Run `script`.py in this process, with a `snakemake` as `script:` would give it.

    A price edit runs six such jobs of a fifth of a second each. As processes of their own each would import pandas
    and Snakemake's script support first: twice the CPU time of everything they compute. Where the profile does not say
    `force-use-threads` (or the executor is a cluster's), Snakemake starts itself again for each: slower, not different.
    """
    held = SimpleNamespace(
        input=input, output=output, params=params, wildcards=wildcards
    )
    sentence = run_script(SCRIPTS / f"{script}.py", held, Path(log[0]))
    if sentence is not None:
        raise WorkflowError(sentence)


def picture(chart):
    """Its picture, as Snakemake's own report shows it."""
    caption = f"{REPORT}/captions/{chart.name}.rst"
    return report(
        f"{REPORT}/figures/{chart.name}.svg",
        # Made with the specification, from the chart's own words.
        caption=os.path.abspath(made(caption)),
        category=chart.category,
        labels={"figure": chart.name.replace("_", " ")},
    )


def png(chart) -> str:
    """The same figure for slides."""
    return f"{REPORT}/figures/{chart.name}.png"


def specs(charts) -> list[str]:
    """The figures as Vega-Lite specifications, which the page draws."""
    return [f"{REPORT}/figures/{chart.name}.vl.json" for chart in charts]


def captions(charts) -> list[str]:
    """Where the words for Snakemake's own report are written, a file a chart."""
    return [f"{REPORT}/captions/{chart.name}.rst" for chart in charts]


def kept(file: str):
    """An output that is not removed before it is made again: it stays until its successor is whole.

    Snakemake fails to do so for files of a storage provider (Kubernetes): there they are removed first.
    """
    return file if STORED else update(file)


# By absolute paths: no environment needs to be active on a node, and `git pull` or a move repeats no run. Of an
# environment that Snakemake deploys (`--sdm conda`, a container of them) only the first on the path is known.
DEPLOYED = {
    DeploymentMethod.CONDA,
    DeploymentMethod.APPTAINER,
} & workflow.deployment_settings.deployment_method
PYTHON = "python" if DEPLOYED else sys.executable


def script_command(name: str) -> str:
    """How a shell runs `name`.py, as text of a rule's `shell`."""
    command = shlex.join([PYTHON, str(SCRIPTS / f"{name}.py")])
    return command.replace("{", "{{").replace("}", "}}")


RUN_BENCHMARK = script_command("run_benchmark")
