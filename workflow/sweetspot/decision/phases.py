"""The phases of a project, as groups of the study's workloads."""

from pathlib import Path

TRAINING = "intensive training"
OVERALL = "overall"


def load_phases(path: str | Path) -> dict[str, list[str]]:
    """Workloads of each phase, in the order of a project, from workloads.yaml; `overall` is all of them.

    Workloads of kind `runs` are a phase each, under their own name; all of kind `training` together are the phase
    `intensive training`. Raises UserError for a faulty file.
    """
    from sweetspot.workloads import Runs, Training, load_workloads  # lazily: pydantic models

    file = Path(path)
    if not file.is_file():
        return {}
    workloads = load_workloads(file)
    single = {name: [name] for name, work in workloads.items() if isinstance(work, Runs)}
    training = [name for name, work in workloads.items() if isinstance(work, Training)]
    phases = {**single, **({TRAINING: training} if training else {})}
    whole = [name for names in phases.values() for name in names]
    return {**phases, OVERALL: whole} if len(phases) > 1 else phases
