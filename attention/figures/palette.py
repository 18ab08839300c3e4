"""Every colour of the project, by theme: figures take theirs from here, and so do pages, stylesheets and components.

Blue is for numbers, and its opposite is rose; the one accent is orange, the colour that stands out from both, and it
marks what is chosen and nothing else. Red is for what does not fit. The backgrounds are the colours that the scales
give to 0.
"""

from dataclasses import dataclass

Scale = tuple[str, ...]  # anchor colours, evenly spaced from the low end to the high end; `colors.table` mixes them

# Black and white: on any ground, one of the two has a contrast above 4.5, what WCAG AA asks of small text.
DARK_INK, LIGHT_INK = "#000000", "#ffffff"
CLEAR = "rgba(0,0,0,0)"
GROUND = "rgba(128,134,145,0.14)"  # behind the cells of a map: shows which are blank, in both themes


BLACK, WHITE = "#000", "#fff"  # of what a camera reads, in every theme


@dataclass(frozen=True)
class Palette:
    """The colours of one theme.

    Attributes:
        ink, faint_ink, link: text, text of less weight, links.
        page, sidebar, panel: grounds of the page, of the sidebar, and of what is laid over a chart.
        line: grid lines.
        accent: what is chosen; orange is nothing else.
        number: a value, as a line or a bar.
        blue, rose: two things that are opposites; survive colour blindness.
        error, on_error: the ground of what does not fit, and the text on it.
        sequential: 0…1; brightness changes in one direction only, which survives a black-and-white print.
        diverging: −1…1; 0 is the page, rose is negative and blue is positive.
        series: told apart with any kind of colour blindness (after Okabe and Ito 2008), at least 3 : 1 against the
            page; the first two are for controls and stay grey.
    """

    ink: str
    faint_ink: str
    link: str
    page: str
    sidebar: str
    panel: str
    line: str
    accent: str
    number: str
    blue: str
    rose: str
    error: str
    on_error: str
    sequential: Scale
    diverging: Scale
    series: tuple[str, ...]


LIGHT = Palette(
    ink="#1b2330",
    faint_ink="#5a6170",
    link="#1d4a92",
    page="#ffffff",
    sidebar="#f3f5f9",
    panel="#ffffff",
    line="rgba(90,97,112,0.25)",
    accent="#a8400a",
    number="#2f73bd",
    blue="#2f73bd",
    rose="#b8345a",
    error="#c62828",
    on_error="#ffffff",
    sequential=("#ffffff", "#d8e8f8", "#9cc8ee", "#5a9fdb", "#2f73bd", "#1d4a92", "#0c2461"),
    diverging=("#6b0f2b", "#b8345a", "#eda3b6", "#ffffff", "#94c2ec", "#2f73bd", "#0c2461"),
    series=("#5a6170", "#8a909c", "#0a62a6", "#8a6a00", "#00795a", "#6a2578"),
)
DARK = Palette(
    ink="#e7ebf2",
    faint_ink="#a6adba",
    link="#8cc4f5",
    page="#0f141d",
    sidebar="#1a212d",
    panel="#1a212d",
    line="rgba(166,173,186,0.25)",
    accent="#ffab66",
    number="#4eb0cf",
    blue="#4fa3dc",
    rose="#e5738f",
    error="#c62828",
    on_error="#ffffff",
    sequential=("#0f141d", "#173057", "#1f5390", "#2a7fba", "#4eb0cf", "#9bdcd7", "#f6fbd0"),
    diverging=("#ffd0da", "#e5738f", "#7c2740", "#0f141d", "#1d4f86", "#4fa3dc", "#d3ecff"),
    series=("#b8bfca", "#868e9b", "#62b6ee", "#d9c23a", "#3fc39d", "#ac62b2"),
)
THEMES = {"light": LIGHT, "dark": DARK}


def palette(theme: str) -> Palette:
    """The colours of a "light" or a "dark" page; ValueError for a theme that is neither."""
    if theme not in THEMES:
        raise ValueError(f"theme is 'light' or 'dark', got {theme!r}")
    return THEMES[theme]
