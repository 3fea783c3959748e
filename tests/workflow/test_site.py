"""The documents as a site: it builds without a warning, and its first page leads to the page of every study."""

import re
import subprocess
import sys

import pytest
import yaml
from project_copy import ROOT
from study_tables import STUDIES

DOCS = ROOT / "docs"


def listed(nav) -> set[str]:
    """Files of a nav, whatever their depth."""
    entries = [value for entry in nav for value in entry.values()]
    return {name for value in entries for name in (listed(value) if isinstance(value, list) else {value})}


def test_every_document_stands_in_the_menu_and_every_study_in_the_gallery_with_its_picture():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert listed(nav) == {str(file.relative_to(DOCS)) for file in DOCS.rglob("*.md")}
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    studies = {file.parent.name for file in STUDIES.glob("*/study.yaml")}
    assert set(re.findall(r'href="results/([^/"]+)/report/index\.html"', text)) == studies
    assert all((DOCS / name).is_file() for name in re.findall(r"!\[.*?\]\((.*?)\)", text))


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs is in envs/test.lock")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    first = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "results/rare-2018/report/index.html" in first and "evidence/reliability/" in first
