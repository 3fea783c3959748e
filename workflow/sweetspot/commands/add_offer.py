"""Put an offer that lies on your desk into a study: a box for sale, a contract or a rental, told in one line.

Writes the machine (instances.yaml), what it costs (prices/*.yaml) and that it is an offer in hand (study.yaml);
comments and order of these files stay. Its speed is that of a machine of the study with one such device, else it
follows from the figures of other devices (`transfer: true`). Electricity, days of use, downtime and discount rate are
those of what the study owns already, where the line does not say them. Nothing is written where `sweetspot check` would
find a mistake.

A line has the kind (box, contract, rental), a name in quotes, `at PROVIDER`, a colon, and parts between commas:
4 x RTX 5090; 21900 EUR (a box), 1.79 EUR an hour, 1300 EUR a month, 2000 EUR up front; 2.1 kW; 36 months; in 6 weeks;
0.35 EUR a kWh; 20 days a month; resale 4000 EUR, resale gaming 68 % (of the price, by the curve of such devices);
nvlink. A number may have its range: 2.7 (1.9 to 3.0) kW.

    sweetspot add-offer mine "box 'Workstation A': 4 x RTX 5090, 21900 EUR, 2.1 kW, 36 months, in 6 weeks"
    sweetspot add-offer mine "contract at Nebius: 8 x H100 SXM, 2.10 EUR an hour, 12 months" --dry-run
    sweetspot add-offer mine --kind rental --provider RunPod --devices "1 x RTX 5090" --price "0.99 USD an hour"
"""

import argparse
import datetime
from pathlib import Path

from sweetspot.commands.offer_files import Desk, write_offer
from sweetspot.commands.offer_line import KINDS, Offered, read_line, read_parts
from sweetspot.commands.scratch import shown, studies_of, tried, write_texts
from sweetspot.errors import UserError
from sweetspot.number_text import number_argument
from sweetspot.study.spelling import near

FLAGS = {
    "--devices": ("N x GPU", "what is in it: '4 x RTX 5090'", "{}"),
    "--price": ("SUM", "'21900 EUR', '1.79 EUR an hour', '1300 EUR a month'", "{}"),
    "--kw": ("KW", "power under load: 2.1, or '2.7 (1.9 to 3.0)'", "{} kW"),
    "--months": ("N", "months of use, or of the term", "{} months"),
    "--weeks": ("N", "weeks until it is there", "in {} weeks"),
    "--per-kwh": ("SUM", "price of electricity: '0.35 EUR'", "{} a kWh"),
    "--days": ("N", "days of use a month", "{} days a month"),
    "--resale": ("WHAT", "'4000 EUR', or 'gaming 68 %%'", "resale {}"),
}
"""The parts of a line as flags: what is shown for a value, the help, and the part that it becomes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot add-offer`."""
    parser.add_argument("study", metavar="STUDY", help="a folder under config/studies/")
    parser.add_argument("line", metavar="LINE", nargs="?", help="the offer in one line; or the flags below")
    parser.add_argument("--kind", choices=sorted(set(KINDS.values())), help="what is offered")
    parser.add_argument("--name", metavar="TITLE", help="name for people")
    parser.add_argument("--provider", help="whose it is, of a contract or a rental")
    for flag, (shown_as, words, _) in FLAGS.items():
        parser.add_argument(flag, metavar=shown_as, help=words)
    parser.add_argument("--instance", metavar="NAME", help="name in the files (from the line)")
    parser.add_argument("--list", metavar="NAME", help="price list it is written to (where such offers are)")
    parser.add_argument(
        "--rate", type=number_argument, metavar="USD", help="USD for one unit of a currency without a rate there"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be written, and write nothing")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")


def run(arguments: argparse.Namespace) -> None:
    """Write the offer, and print a line a file and what is to be known. Raises UserError, with nothing written."""
    line, offered = _said(arguments)
    root, study = arguments.config, arguments.study
    known = studies_of(root)
    if study not in known and (meant := near(study, known)) is not None:
        raise UserError(f"study {study!r} does not exist; did you mean {meant!r}?")
    desk = Desk(root, study, arguments.instance, arguments.list, arguments.rate, datetime.date.today(), line)
    name = write_offer(desk, offered)
    found = tried(root, study, desk.texts)
    if arguments.dry_run:
        print(shown(desk.folder, desk.texts), end="")
    else:
        write_texts(desk.folder, desk.texts)
        print(f"{name} is an offer of study {study}: {', '.join(map(str, desk.texts))}")
    warned = [f"warning: {words}" for _, _, words in found.warnings if words.startswith(f"{name}:")]
    for sentence in (*desk.sentences, *warned):
        print(sentence)


def _said(arguments: argparse.Namespace) -> tuple[str, Offered]:
    """The offer as a line, and what it says: that of the line, or of the flags. Raises UserError for both or none."""
    given = {flag: getattr(arguments, flag[2:].replace("-", "_")) for flag in FLAGS}
    parts = [FLAGS[flag][2].format(value) for flag, value in given.items() if value is not None]
    if arguments.line is not None:
        if parts or arguments.kind or arguments.name or arguments.provider:
            raise UserError("the offer is given as a line and by flags; expected one of the two")
        return arguments.line, read_line(arguments.line)
    if arguments.kind is None:
        raise UserError("no offer is given; expected a line, or --kind with --devices and --price (see --help)")
    line = f"{arguments.kind}: {', '.join(parts)}"
    return line, read_parts(arguments.kind, parts, arguments.name, arguments.provider)
