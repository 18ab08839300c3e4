"""Fixes compared: the same training for every way of feeding the decoder's heads, with several seeds."""

import streamlit as st

from attention.experiments.comparison import to_csv
from pages.compare.claims import draw_claims, findings_of
from pages.compare.controls import current_comparison, draw_controls, draw_run
from pages.compare.result import draw_fixes
from pages.compare.sweep import draw_sweep
from pages.shared import session
from pages.shared.answer import notice
from pages.shared.findings import answer
from pages.shared.style import draw_stylesheet
from pages.shared.texts import counted, label, listed, paragraph, prose
from pages.shared.title import draw_title

session.for_page()
theme = st.context.theme.type or "light"
texts = prose("compare")

draw_stylesheet("compare")
draw_title(label("app", "compare"))
notice(*session.notices())
answer_place, controls_place, run_place = st.container(), st.container(), st.container()
with controls_place:
    draw_controls()
now = current_comparison()
with run_place:
    draw_run(now)

seeds = len({row.seed for row in now.rows})
if now.rows:
    where = label("compare", "from_store" if now.from_store else "from_here")
    versions = listed(sorted({row.results.torch for row in now.rows}))
    runs = counted(len({tuple(row.settings.items()) for row in now.rows}), "run")
    values = {"runs": runs, "seeds": counted(seeds, "seed"), "torch": versions}
    st.caption(label("compare", "about", where=where, steps=now.comparison.num_steps, **values))
else:
    st.caption(" ".join(label("compare", name) for name in ("nothing_yet", f"nothing_yet_{now.experiment}")))
findings = findings_of(now)
with answer_place:
    st.markdown(answer(now.experiment, findings, now.comparison))
if now.experiment == "fixes":
    draw_fixes(now, findings, theme)
else:
    draw_sweep(now, theme)
st.markdown(texts[now.experiment])
draw_claims(now, findings)
st.divider()
st.markdown(paragraph("compare", "same", examples=now.comparison.num_examples))
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
