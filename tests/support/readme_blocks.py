"""Commands of a README, as a person would type them."""

import re
from pathlib import Path


def shell_commands(readme: Path) -> list[str]:
    """The commands of all its shell blocks, in order: one a line, which a backslash at its end continues.

    Comments are dropped, as the shell does.
    """
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme.read_text(), re.M | re.S)
    joined = re.sub(r"\\\n\s*", "", "".join(blocks))
    lines = (re.sub(r"(^|\s)#.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line]
