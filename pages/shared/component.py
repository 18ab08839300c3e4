"""Components of our own: JavaScript and CSS that Streamlit draws as a part of the page.

Streamlit sends a component's scripts together with its data, at each change again. So a page is sent all scripts once,
as a component that shows nothing and never changes, which Streamlit then only names; the others are a line that calls
what came with it.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

import streamlit as st

from attention.notebook import joined

BUTTON_CSS = Path(__file__).parent / "button.css"
# Whoever makes a component does so when it is imported.
MAKERS = ("shared.head_grid", "shared.copy_link", "shared.take_away", "anchors.player", "lesson.browser")
_SENT = "scripts_are_sent"
_EXPORT = "export default function"

_REGISTER = """(() => {
%(js)s
const sheet = new CSSStyleSheet();
sheet.replaceSync(%(css)s);
(window.ownComponents ??= {})[%(name)s] = (given) => {
  const root = given.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  return drawThis(given);
};
})();"""
_CALL = """export default function (given) {
  const draw = () => window.ownComponents[%(name)s](given);
  if (window.ownComponents?.[%(name)s]) return draw();
  let stop = null;
  const listen = () => (stop = draw());
  addEventListener("own-components", listen, { once: true });
  return () => {
    removeEventListener("own-components", listen);
    stop?.();
  };
}"""
_scripts: dict[str, str] = {}


def component(name: str, css: Iterable[Path], js: Iterable[Path]) -> Callable:
    """The component of this name; its files are joined, so that the later ones know what the earlier ones define.

    What is sent as a dict arrives as the one item of a list: of a dict Streamlit would look at each value whether it is
    a data frame, which takes longer than all else that is done for a component.
    """
    css, js = joined(css), joined(js)
    whole = st.components.v2.component(name, css=css, js=js)
    call = st.components.v2.component(f"{name}_called", js=_CALL % {"name": json.dumps(name)})
    drawing = js.replace(_EXPORT, "const drawThis = function")
    _scripts[name] = _REGISTER % {"js": drawing, "css": json.dumps(css), "name": json.dumps(name)}

    def draw(*, data: object = None, **options: object) -> object:
        mount = call if st.session_state.get(_SENT) else whole
        return mount(data=[data] if isinstance(data, dict) else data, **options)

    return draw


def send_scripts() -> None:
    """Let the page have the scripts of all components, before it shows any."""
    _all_scripts()(key="scripts")
    st.session_state[_SENT] = True


@cache
def _all_scripts() -> Callable:
    for maker in MAKERS:
        import_module(f"pages.{maker}")
    js = "\n".join([*_scripts.values(), 'export default () => dispatchEvent(new Event("own-components"));'])
    return st.components.v2.component("scripts", js=js)
