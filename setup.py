"""What an installed library carries from beside it: the studies' figures that methods learn from, which stand once."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

STUDIES = Path("config", "studies")
CARRIED = {
    "parkopedia-2018": ("study.yaml", "instances.yaml", "throughput.csv", "efficiency.csv"),
    "eight-gpus-2026": ("time_to_target.csv",),
}


class WithFigures(build_py):
    """The library, and in its pools what a checkout reads from config/studies/."""

    def run(self) -> None:
        """Copy the figures, but for an editable install, which is a checkout."""
        super().run()
        for study, names in CARRIED.items() if not self.editable_mode else ():
            folder = Path(self.build_lib, "sweetspot", "facts", "pools", study)
            self.mkpath(str(folder))
            for name in names:
                self.copy_file(str(STUDIES / study / name), str(folder / name))


setup(cmdclass={"build_py": WithFigures})
