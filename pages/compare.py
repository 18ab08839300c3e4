"""Fixes compared: the same training for every way of feeding the decoder's heads, with several seeds."""

import streamlit as st

from attention.comparison import to_csv
from attention.tasks import get_task
from pages.parts import sidebar
from pages.parts.answer import notice
from pages.parts.compare_claims import draw_claims
from pages.parts.compare_controls import chosen, draw_controls, draw_run
from pages.parts.compare_result import draw_fixes, draw_sweep
from pages.parts.words import counted, label, prose

sidebar.for_page()
theme = st.context.theme.type or "light"
texts = prose("compare")

st.title(label("compare", "title"), anchor=False)
notice(*sidebar.notices())
controls_place, run_place = st.container(), st.container()
with controls_place:
    draw_controls()
now = chosen()
st.markdown(texts[now.experiment])
with run_place:
    draw_run(now)

seeds = len({row.seed for row in now.rows})
if now.rows:
    where = label("compare", "from_store" if now.from_store else "from_here")
    versions = ", ".join(sorted({row.results.torch for row in now.rows}))
    runs = counted(len({tuple(row.settings.items()) for row in now.rows}), "run")
    values = {"runs": runs, "seeds": counted(seeds, "seed"), "torch": versions}
    st.caption(label("compare", "about", where=where, steps=f"{now.comparison.num_steps:,}", **values))
else:
    st.caption(label("compare", "nothing_yet"))
if now.experiment == "fixes":
    draw_fixes(now, theme)
else:
    draw_sweep(now, theme)
draw_claims(now)
st.divider()
st.markdown(
    texts["same"].format(examples=f"{now.comparison.num_examples:,}", words=get_task(now.comparison.task).source_words)
)
st.download_button(
    label("compare", "download"),
    data=to_csv(now.rows),
    file_name=f"{now.experiment}-{now.comparison.task}.csv",
    mime="text/csv",
    disabled=not now.rows,
    on_click="ignore",
)
st.code(
    f"python -m attention.compare --task {now.comparison.task} --enc-heads {now.comparison.enc_heads} "
    + (
        f"--dec-heads {now.comparison.dec_heads} --keep {now.comparison.keep}"
        if now.experiment == "fixes"
        else "--sweep"
    )
    + f" --seeds {now.comparison.num_seeds} --steps {now.comparison.num_steps} --out results.csv",
    language=None,
    wrap_lines=True,
)
