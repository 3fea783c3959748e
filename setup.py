"""What an installed library carries from beside it: figures that methods learn from, and rentals of today."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

STUDIES = Path("config", "studies")
CARRIED = {
    "parkopedia-2018": ("study.yaml", "instances.yaml", "throughput.csv", "efficiency.csv"),
    "eight-gpus-2026": ("time_to_target.csv",),
    "fine-tune-2026": ("instances.yaml", "prices/buying.yaml", "prices/rent.yaml", "prices/rent-amd.yaml"),
    "office-box-2026": ("instances.yaml", "prices/marketplace.yaml", "prices/office.yaml"),
}


class WithFigures(build_py):
    """The library, and in its pools what a checkout reads from config/studies/."""

    def run(self) -> None:
        """Copy the figures, but for an editable install, which is a checkout."""
        super().run()
        for study, names in CARRIED.items() if not self.editable_mode else ():
            folder = Path(self.build_lib, "sweetspot", "facts", "pools", study)
            for name in names:
                self.mkpath(str((folder / name).parent))
                self.copy_file(str(STUDIES / study / name), str(folder / name))


setup(cmdclass={"build_py": WithFigures})
