"""Who may stop a training that many see: those who started it, and whoever watches it when they have gone.

A page that is loaded anew is a new visitor to Streamlit. Without this nobody could stop a training whose starter
reloaded the page.
"""

import threading
from collections import OrderedDict
from time import monotonic
from uuid import uuid4

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention.training import TrainingSettings
from pages.shared.caching import made_once

GONE_SECONDS = 15  # after this long without a look at it, somebody has left
MAX_KEPT = 200  # trainings; the one started longest ago is forgotten first


class Starters:
    """One per server process; its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[TrainingSettings, dict[str, float]] = OrderedDict()  # who, last seen when

    def add(self, settings: TrainingSettings, who: str) -> None:
        """`who` has started it, or let it go on."""
        with self._lock:
            self._seen.setdefault(settings, {})[who] = monotonic()
            self._forget()

    def of(self, who: str) -> list[TrainingSettings]:
        """What `who` has started, or watches alone."""
        with self._lock:
            return [settings for settings, seen in self._seen.items() if who in seen]

    def may_stop(self, settings: TrainingSettings, who: str) -> bool:
        """Whether `who` may. To ask is to look at it; if those who may have all gone, `who` takes their place."""
        now = monotonic()
        with self._lock:
            seen = self._seen.setdefault(settings, {"": now})  # started by a comparison, or forgotten since
            anybody = any(now - at < GONE_SECONDS for at in seen.values())
            may = who in seen or not anybody
            if may:
                seen[who] = now
            self._forget()
            return may

    def _forget(self) -> None:
        if len(self._seen) > MAX_KEPT:
            self._seen.popitem(last=False)


@made_once()
def starters() -> Starters:
    """Those of everybody's trainings."""
    return Starters()


def visitor() -> str:
    """A name for this session, to tell who wants what."""
    if "visitor" not in st.session_state:
        st.session_state["visitor"] = f"{get_script_run_ctx().session_id}/{uuid4().hex}"
    return st.session_state["visitor"]


def is_connected(who: str) -> bool:
    """Whether the browser of this session is connected just now; may be asked from any thread."""
    try:
        return bool(Runtime.instance().is_active_session(who.partition("/")[0]))
    except RuntimeError:  # there is no server: pages are run by a test
        return True
