"""Imports run downwards only: the rooms of the house, from the bottom up, and what each may ask of the others."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from pages.shared.every_page import PAGES, script

ROOT = Path(__file__).parents[1]
RANKS = (  # a module imports from lower ranks, never from its own
    ("messages",),
    ("config",),
    ("functional", "layers"),
    ("cross_attention",),
    ("cache",),
    ("model",),
    ("decoding",),
    ("tasks", "metrics"),
    ("inspection", "shapes", "training"),
    ("checkpoints", "ablation"),
    ("experiments", "export"),
    ("quiz",),
    ("jobs",),
    ("compare",),
)
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}
ALONE = {"figures", "notebook"}  # only pages import these
NO_PAGE = {"shared", "text", "images"}  # the folders of pages/ that are no page's


def files() -> dict[str, Path]:
    """All modules of the app and the library by name."""
    found = {}
    for path in [ROOT / "app.py", *ROOT.glob("attention/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = files()


def imports(module: str) -> set[str]:
    """What a module imports, inside its functions too: modules of ours by their full name, others as written."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are written from the root"
            whole = {f"{node.module}.{name.name}" for name in node.names}
            found |= whole & MODULES.keys() or {node.module}
            found |= {node.module} if whole - MODULES.keys() else set()
    return found


def room(module: str) -> str:
    """The first folder or file below attention/ or pages/."""
    return module.split(".")[1] if "." in module else ""


LIBRARY = sorted(module for module in MODULES if module.split(".")[0] == "attention")
APP = sorted(MODULES.keys() - set(LIBRARY))


def ours(module: str, top: str) -> set[str]:
    return {name for name in imports(module) if name.split(".")[0] == top}


def may_import(importer: str, imported: str) -> bool:
    """Whether one module of the library may import another."""
    mine, theirs = room(importer), room(imported)
    if mine == theirs:
        return True
    if mine == "figures":
        return imported == "attention.shapes.ledger"
    if mine == "notebook":  # which has the colours and the signs of figures
        return theirs == "figures" or RANK.get(theirs, 99) <= RANK["inspection"]
    if mine == "metrics":  # arrays in, numbers out; never a model
        return theirs in ("config", "functional")
    if mine == "":  # the names that `from attention import …` gives; `show` when it is asked for
        return imported == "attention.notebook.show" or RANK.get(theirs, 99) <= RANK["shapes"]
    return theirs in RANK and RANK[theirs] < RANK[mine]


def test_every_module_of_the_library_has_a_rank():
    assert {room(module) for module in LIBRARY} - {""} <= RANK.keys() | ALONE


@pytest.mark.parametrize("module", LIBRARY)
def test_the_library_imports_downwards_and_no_streamlit(module):
    assert "streamlit" not in {name.split(".")[0] for name in imports(module)}
    assert not ours(module, "pages")
    upward = {(module, name) for name in ours(module, "attention") if not may_import(module, name)}
    assert not upward


@pytest.mark.parametrize("module", APP)
def test_a_page_imports_itself_what_all_share_and_the_library(module):
    allowed = {"shared", room(module)}
    foreign = {(module, name) for name in ours(module, "pages") if room(name) not in allowed}
    assert not foreign


def test_each_page_is_a_folder_with_a_script_of_its_name():
    """Streamlit takes a page's address from its file, and finds pages of its own accord directly in pages/ only."""
    assert not list((ROOT / "pages").glob("*.py"))
    folders = {path.parent.name for path in (ROOT / "pages").glob("*/*.py")} - NO_PAGE
    assert folders == PAGES.keys()
    assert all(script(page).is_file() for page in PAGES)


def test_the_library_starts_without_what_only_some_page_needs():
    code = "import sys, attention, attention.inspection, attention.checkpoints; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    late = {"streamlit", "plotly", "attention.notebook", "pandas", "scipy.stats", "distributed"}
    assert not late & set(loaded.split())
