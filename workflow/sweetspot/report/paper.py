"""The page on paper: a PDF printed by headless Chromium."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from sweetspot.errors import UserError
from sweetspot.files import write_whole

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking")
TIME_LIMIT_S = 180


def print_pdf(page: Path, output: Path) -> None:
    """Print an HTML file as PDF, whole; folds that are closed on the page are not printed.

    `--no-sandbox`: the page is our own and loads nothing. Raises UserError without a Chromium, and where it fails.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise UserError(f"{output}: no Chromium found to print it with; expected one of {', '.join(BROWSERS)} on PATH")
    with tempfile.TemporaryDirectory() as profile, write_whole(output) as temporary:
        command = [
            browser,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--print-to-pdf={temporary}",
            page.resolve().as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            raise UserError(f"{output}: {browser} printed nothing within {TIME_LIMIT_S} s") from None
        if done.returncode != 0 or not temporary.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UserError(f"{output}: {browser} ended with code {done.returncode}: {last}")
