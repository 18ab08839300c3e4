"""How long until a changed head count is on the screen, in a real browser, beside pages that do less or do it plainly.

    python -m benchmarks.interaction [--clicks 20]

Four pages are served by one Streamlit each, with the project's settings and torch imported, and are measured in turns:

    playground   this project's page, from choosing another head count to the new maps being painted
    text only    the very same page and computation, with one line of text in place of its pictures
    bare         one widget and one line of text
    subplots     the same heads as one plotly figure with a subplot per head

Times are taken in the browser, from the click to the second animation frame after the new state is in the document.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
PAGES = {
    "playground": "app.py",
    "text only": "benchmarks/pages/text_only.py",
    "bare": "benchmarks/pages/bare.py",
    "subplots": "benchmarks/pages/subplots.py",
}
