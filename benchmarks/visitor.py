"""A visitor without a browser: speaks the app's own protocol, so that many of them fit on one machine.

    async with Visitor.at("http://localhost:8501") as visitor:
        await visitor.open("text=box&dec_heads=16")
        await visitor.touch("kind", strings=["Decoder self"])
        texts, weights = visitor.grid()

What a run sends is counted and timed; of the page only what a script of a visitor needs is kept: elements by their key.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from attention.notebook.packing import read_message

PATIENCE = 120  # seconds for a run
LARGEST = 100_000_000  # bytes of a message


@dataclass
class Run:
    """How one run went: seconds until the grid was sent and until the run had finished, and bytes received."""

    grid: float = float("nan")
    finished: float = float("nan")
    received: int = 0
    failed: tuple[str, ...] = ()


@dataclass
class Visitor:
    """One session."""

    url: str
    connection: ClientConnection
    query: str = ""
    page: str = ""
    session: str = ""
    elements: dict[str, object] = field(default_factory=dict)  # by key: the widgets and components of the last run
    widgets: dict[str, WidgetState] = field(default_factory=dict)  # those that were touched, by id
    texts: list[str] = field(default_factory=list)
    kept: dict[str, ForwardMsg] = field(default_factory=dict)  # by hash: large messages, which come but once

    @classmethod
    @asynccontextmanager
    async def at(cls, url: str, session: str = "") -> AsyncIterator["Visitor"]:
        """Connect to the app at this address, and to no other machine's; `session`: take up one that was cut off."""
        if urlsplit(url).hostname not in ("localhost", "127.0.0.1"):
            raise ValueError(f"{url} is not on this machine")
        stream = f"ws://{urlsplit(url).netloc}/_stcore/stream"
        said = ["streamlit", "no-token", session] if session else ["streamlit"]
        async with connect(stream, subprotocols=said, max_size=LARGEST, compression=None) as connection:
            yield cls(url, connection)

    async def open(self, query: str = "", page: str = "") -> Run:
        """Load a page at an address."""
        self.query, self.page, self.widgets = query, page, {}
        return await self.run()

    async def touch(self, key: str, **value: object) -> Run:
        """Use the widget with this key: `strings=["box"]`, `string=`, `trigger=True`, `json={…}`, `number=`."""
        state = WidgetState(id=self.elements[key].id)
        kind, given = next(iter(value.items()))
        match kind:
            case "strings":
                state.string_array_value.data.extend(given)
            case "string":
                state.string_value = given
            case "trigger":
                state.trigger_value = given
            case "number":
                state.double_value = given
            case "bool":
                state.bool_value = given
            case "json":
                state.json_value = json.dumps(given)
        self.widgets[state.id] = state
        try:
            return await self.run()
        finally:
            if kind == "trigger":
                del self.widgets[state.id]

    async def run(self) -> Run:
        """Let the script run with the widgets as they are."""
        message = BackMsg()
        client = message.rerun_script
        client.query_string, client.page_name = self.query, self.page
        client.widget_states.widgets.extend(self.widgets.values())
        client.context_info.url = f"{self.url}/{self.page}"
        client.cached_message_hashes.extend(self.kept)
        began = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        return await self.receive(began)

    async def receive(self, began: float) -> Run:
        """Everything up to the end of a run."""
        run, failed = Run(), []
        async with asyncio.timeout(PATIENCE):
            while True:
                data = await self.connection.recv()
                run.received += len(data)
                message = ForwardMsg.FromString(data)
                if message.WhichOneof("type") == "ref_hash":
                    message = self.kept[message.ref_hash]
                if message.metadata.cacheable:
                    self.kept[message.hash] = message
                kind = message.WhichOneof("type")
                if kind == "new_session":
                    self.session = message.new_session.initialize.session_id
                    self.elements, self.texts = {}, []
                elif kind == "page_info_changed":
                    self.query = message.page_info_changed.query_string
                elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                    if trouble := self._keep(message.delta.new_element):
                        failed.append(trouble)
                    if "heads" in self.elements and run.grid != run.grid:
                        run.grid = time.perf_counter() - began
                elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    run.finished, run.failed = time.perf_counter() - began, tuple(failed)
                    return run

    def grid(self) -> tuple[dict, np.ndarray]:
        """What the head grid was sent: its texts, and its weights one after the other."""
        texts, weights, _ = read_message(self.elements["heads"].bytes)
        return texts, weights

    def _keep(self, element) -> str:
        """Note an element; gives what an error says."""
        kind = element.WhichOneof("type")
        proto = getattr(element, kind)
        if kind == "exception":
            return f"{proto.type}: {proto.message}"
        self.texts += [getattr(proto, name) for name in ("body", "text") if isinstance(getattr(proto, name, None), str)]
        # An element's id ends with the key that it was given.
        if identity := getattr(proto, "id", ""):
            self.elements[identity.split("-", 2)[-1]] = proto
        return ""
