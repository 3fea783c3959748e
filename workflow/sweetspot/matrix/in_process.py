"""The rules' scripts: where they lie, and one run in Snakemake's own process, its words in the log of its step."""

import runpy
import traceback
from collections.abc import Callable
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.files import write_whole

# What a repository elsewhere is asked for; the same as the files of workflow/scripts/.
NAMES = (
    "check_claims", "collect_throughput", "compare", "compare_scenarios", "compare_then", "draw_figures",
    "draw_pictures", "extrapolate", "fit_scaling", "list_left_out", "price_workloads", "print_report", "render_report",
    "run_benchmark", "write_focus", "write_index", "write_tables",
)  # fmt: skip
FOLDER = Path(".snakemake/sweetspot/scripts")


def scripts_of(fetched: Callable[[str], str]) -> Path:
    """The folder with the scripts of a module's repository, `fetched` by name, kept beside Snakemake's records."""
    for name in NAMES:
        text, file = Path(fetched(name)).read_bytes(), FOLDER / f"{name}.py"
        if not file.is_file() or file.read_bytes() != text:
            with write_whole(file) as temporary:
                temporary.write_bytes(text)
    return FOLDER.absolute()


def run_script(script: Path, held: object, log: Path) -> str | None:
    """Run `script` with `held` as its `snakemake`; why it failed, for a person, or None where it went well.

    What nobody foresaw is raised as it is, its traceback in `log`.
    """
    said, sentence = "finished\n", None
    try:
        runpy.run_path(str(script), init_globals={"snakemake": held})
    except UserError as error:
        said, sentence = f"error: {error}\n", str(error)
    except SystemExit:
        said, sentence = (
            "error: the sentence is on the terminal\n",
            f"{script.stem} stopped; the sentence above says why",
        )
    except Exception:
        said = traceback.format_exc()
        raise
    finally:
        log.write_text(said, encoding="utf-8")
    return sentence
