"""`python research/mutation ROOM [MODULE ...] --count 60 --seed 1`: which one-token mutants a room's fast tests miss.

Mutants are drawn by seed, each is tried in a copy of the project, and survivors are listed with file, line, before and
after. Outcomes are kept in `.mutants/`: an invocation that was stopped goes on, and one after an edit tries only what
the edit can have changed. `equivalent.yaml` lists mutants that change nothing, with the reason. Exit code 1 where less
than 95 % are noticed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from one_token import Mutant, mutants_of
from record import LIBRARY, Record, equivalents, in_order
from trials import PURE, ROOMS, Outcome, RoomFailsError, Workshop

PROJECT = Path(__file__).parent.parent.parent
ENOUGH = 0.95


def drawn(room: str, modules: list[str], count: int, seed: int) -> list[Mutant]:
    """The first mutants of a room, or of some of its modules, in the seed's order."""
    library = PROJECT / LIBRARY
    files = sorted(library.glob("*.py") if room == "ground" else (library / room).rglob("*.py"))
    files = [file for file in files if room != "harness" or file.stem in PURE]
    files = [file for file in files if not modules or file.stem in modules]
    named = {str(file.relative_to(PROJECT / LIBRARY)): file.read_text() for file in files}
    found = [mutant for name, text in named.items() for mutant in mutants_of(name, text)]
    return in_order(found, seed)[:count]


def try_all(room: str, mutants: list[Mutant]) -> dict[Mutant, Outcome]:
    """An outcome for each mutant, from the record or from a trial."""
    record = Record(PROJECT, PROJECT / ".mutants", room)
    outcomes = {mutant: outcome for mutant in mutants if (outcome := record.known(mutant))}
    waiting = [mutant for mutant in mutants if mutant not in outcomes]
    if not waiting:
        return outcomes
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = Workshop(PROJECT, Path(folder) / "project", room, PROJECT / ".mutants" / f"{room}.reach.json")
        cost = workshop.rehearse()
        print(f"{room}: {len(outcomes)} outcomes known, {len(waiting)} to try; all tests take {cost:.1f} s")
        for number, mutant in enumerate(waiting, 1):
            outcome = workshop.trial(mutant)
            record.add(mutant, outcome)
            outcomes[mutant] = outcome
            told = f"noticed by {outcome.by}" if outcome.noticed else "SURVIVED"
            print(f"{number}/{len(waiting)} {mutant.file}:{mutant.line} {mutant.old!r} -> {mutant.new!r} "
                  f"({outcome.cpu_s:.1f} CPU-s): {told}", flush=True)  # fmt: skip
    return outcomes


def tell(room: str, outcomes: dict[Mutant, Outcome], equivalent: list[Mutant]) -> float:
    """Print the survivors and the count; returns the share that was noticed."""
    survivors = sorted(mutant for mutant, outcome in outcomes.items() if not outcome.noticed)
    for mutant in survivors:
        print(f"\n{LIBRARY / mutant.file}:{mutant.line}\n  - {mutant.before}\n  + {mutant.after}")
    noticed = len(outcomes) - len(survivors)
    share = noticed / len(outcomes) if outcomes else 1.0
    print(f"\n{room}: {len(outcomes) + len(equivalent)} mutants, {noticed} noticed, {len(equivalent)} equivalent, "
          f"{len(survivors)} survived: {share:.1%} noticed")  # fmt: skip
    return share


def main() -> int:
    """Read the command line, try, tell."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("modules", nargs="*", help="without .py; none: all of the room")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    listed = equivalents()
    mutants = drawn(arguments.room, arguments.modules, arguments.count, arguments.seed)
    equivalent = [mutant for mutant in mutants if (mutant.file, mutant.before, mutant.after) in listed]
    try:
        outcomes = try_all(arguments.room, [mutant for mutant in mutants if mutant not in equivalent])
    except RoomFailsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return int(tell(arguments.room, outcomes, equivalent) < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
