"""Do the steps of a Containerfile in a root of their own, without a container engine.

    make container-check        # as root, with debootstrap: python research/container Containerfile

FROM debian:SUITE-slim@... becomes a root that debootstrap makes of the same suite; RUN and CMD run in it by chroot, as
the user that the file names; COPY copies the files that Git tracks, as .dockerignore would leave them. What an engine
does beyond that is not tried: layers, the base image as published, limits of a container, devices. The package index
and Debian's mirror are those that this machine is set up for (/etc/apt, pip's variables), which no image would know.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from containerfile import Step, command, copied, environment, steps

PROJECT = Path(__file__).resolve().parent.parent.parent
OF_THE_MACHINE = (
    "etc/apt",
    "etc/resolv.conf",
    "etc/ssl/certs",
    "usr/local/share/ca-certificates",
    "etc/xdg/pip",
    "opt/wheels",
)
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
PIP_CACHE = Path(os.environ.get("PIP_CACHE_DIR") or Path.home() / ".cache" / "pip")
# numpy and TensorFlow look at /proc, programs write to /dev/null.
MOUNTED = {"/proc": "proc", "/dev": "dev", str(PIP_CACHE): "var/cache/pip"}
HANDED_ON = ("PIP_", "SSL_", "REQUESTS_", "HTTP", "http", "HTTPS", "https", "NO_PROXY", "no_proxy")
TRIED = [
    ["python", "-c", "import os; assert os.getuid() == 1000, os.getuid()"],
    ["snakemake", "--cores", "all", "--config", "study=rare-2018"],  # CMD's words, for a study that measures nothing
    ["sweetspot", "doctor"],
]


class Root:
    """A folder that plays the image: what was set so far, and commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)  # as an image's root: mkdtemp lets only its owner in
        self.user, self.workdir = "root", "/"
        self.variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

    def inside(self, path: str) -> Path:
        return self.folder / path.lstrip("/")

    def run(self, words: list[str]) -> None:
        """Run words by chroot as the image's user, with its variables and nothing of this machine's but the index."""
        machine = {name: value for name, value in os.environ.items() if name.startswith(HANDED_ON)}
        machine |= {
            "PIP_CACHE_DIR": "/var/cache/pip",
            "PIP_NO_CACHE_DIR": "0",
        }  # no image keeps a cache; here it saves 700 MB
        home = "/root" if self.user == "root" else self._home()
        env = {"DEBIAN_FRONTEND": "noninteractive", "HOME": home, **self.variables, **machine}
        entry = [CHROOT, *([] if self.user == "root" else [f"--userspec={self.user}"]), str(self.folder)]
        subprocess.run(
            [*entry, "/bin/sh", "-c", f'cd "{self.workdir}" && exec "$@"', "sh", *words], env=env, check=True
        )

    def _home(self) -> str:
        """Of the image's user, as an engine finds it: in the image's own list of users, by number."""
        users = (line.split(":") for line in (self.folder / "etc" / "passwd").read_text().splitlines())
        return next(user[5] for user in users if user[2] == self.user.partition(":")[0])

    def bootstrap(self, image: str) -> None:
        suite = re.fullmatch(r"debian:(\w+)-slim@sha256:[0-9a-f]{64}", image)
        if suite is None:
            raise ValueError(f"FROM {image}: expected debian:SUITE-slim@sha256:...")
        subprocess.run(
            ["debootstrap", "--variant=minbase", suite[1], str(self.folder)], check=True, stdout=subprocess.DEVNULL
        )
        for part in OF_THE_MACHINE:
            source, target = Path("/") / part, self.folder / part
            if source.is_dir():
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(source, target, symlinks=False, ignore_dangling_symlinks=True)
            elif source.is_file():
                shutil.copy(source, target)
        PIP_CACHE.mkdir(parents=True, exist_ok=True)
        for source, target in MOUNTED.items():
            (self.folder / target).mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--bind", source, str(self.folder / target)], check=True)

    def copy(self, step: Step) -> None:
        owner, sources, target = copied(step)
        for source in sources:
            place = self.inside(target)
            for file in tracked() if source == "." else [source]:
                into = place / (file if source == "." else Path(file).name)
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(PROJECT / file, into)
        if owner:
            self.run(["chown", "-R", owner, target])

    def do(self, step: Step) -> None:
        """One instruction."""
        if step.instruction == "FROM":
            self.bootstrap(step.text)
        elif step.instruction == "RUN":
            self.run(["/bin/sh", "-c", step.text])
        elif step.instruction == "COPY":
            self.copy(step)
        elif step.instruction == "ENV":
            self.variables |= environment(step)
        elif step.instruction == "USER":
            self.user = step.text
        elif step.instruction == "WORKDIR":
            self.workdir = step.text

    def away(self) -> None:
        for target in MOUNTED.values():
            subprocess.run(["umount", str(self.folder / target)], check=False, capture_output=True)
        # Never into what is mounted still: that is this machine's own.
        subprocess.run(["rm", "-rf", "--one-file-system", str(self.folder)], check=False)


def tracked() -> list[str]:
    """Files that Git tracks: what .dockerignore leaves of a clean clone."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    return [file for file in listed.split("\0") if file and (PROJECT / file).is_file()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        sys.exit("error: container-check needs root and debootstrap (apt-get install debootstrap)")
    root = Root(Path(tempfile.mkdtemp(prefix="container-check-")))
    try:
        for step in steps(file):
            began = time.monotonic()
            print(f"{file.name}:{step.line}: {step.instruction} {step.text[:90]}", flush=True)
            root.do(step)
            if step.instruction == "CMD" and command(step)[0] != TRIED[1][0]:
                raise ValueError(f"CMD is {step.text}; the study that is tried starts {TRIED[1][0]}")
            print(f"    {time.monotonic() - began:.1f} s", flush=True)
        for words in TRIED:
            print(f"tried as {root.user}: {' '.join(words)}", flush=True)
            root.run(words)
        page = root.inside(root.workdir) / "results" / "rare-2018" / "report" / "index.html"
        if page.stat().st_uid != 1000:
            raise ValueError(f"{page} belongs to user {page.stat().st_uid}; expected 1000")
        size = subprocess.run(
            ["du", "-sm", str(root.inside("/opt/sweetspot"))], capture_output=True, text=True, check=True
        )
        print(f"container-check: {file.name} builds and makes a page; /opt/sweetspot has {size.stdout.split()[0]} MB")
    finally:
        root.away()


if __name__ == "__main__":
    main()
