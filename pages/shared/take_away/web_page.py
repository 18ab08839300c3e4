"""A chart as a web page that needs nothing else: plotly is in it, and nothing is asked of anybody."""

from attention.figures import Chart
from attention.figures.palette import THEMES
from pages.shared.texts import language_folder, verbatim

_STYLE = """
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif }
body { color: %s; background: %s }
h1 { font-size: 1.35rem } p { overflow-wrap: anywhere }
"""


def chart_page(chart: Chart, title: str, about: str, theme: str) -> bytes:
    """The chart under its title, in the colours it is drawn in, with what it shows in words and where it comes from."""
    colors = THEMES[theme]
    drawn = chart.figure.to_html(
        full_html=False, include_plotlyjs=True, include_mathjax=False, config={"displaylogo": False, "responsive": True}
    )
    page = (
        f'<!doctype html>\n<html lang="{language_folder().name}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{verbatim(title)}</title><style>{_STYLE % (colors.ink, colors.page)}</style></head>\n"
        f"<body><h1>{verbatim(title)}</h1>\n"
        f'<div role="img" aria-label="{verbatim(chart.alt)}">{drawn}</div>\n'
        f"<p>{verbatim(chart.alt)}</p><p><small>{verbatim(about)}</small></p></body></html>\n"
    )
    return page.encode("utf-8")
