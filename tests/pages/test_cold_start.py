"""The very first page that a process is asked for may be another than the first; a browser asks for all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pages.shared.every_page import PAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["", list(PAGES)[1]])
def test_a_cold_process_opens_the_page_that_is_asked_for(page):
    code = f"import app_test; app_test.open_page({page!r})"  # which looks at what it gets
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "support")))
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=True)
