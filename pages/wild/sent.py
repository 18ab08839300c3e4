"""What an encoder sends, as two bars for each model: the memory, and keys and values cut into heads."""

import streamlit as st

from attention.cross_attention import KV_WAYS, fits
from attention.experiments.published import BART_LARGE, WHISPER_LARGE_V3, Sent, sent_by
from attention.tasks import get_task
from pages.shared.answer import notice, read_text
from pages.shared.settings import Settings
from pages.shared.texts import counted, label, number, paragraph, verbatim


def draw_sent(settings: Settings) -> None:
    """Two published models and the visitor's own, all bars to one scale."""
    source, refusals = read_text(settings)
    notice(*refusals)
    task = get_task(settings.task)
    own = sent_by(settings.config, tokens=len(task.encode_source(source)))
    named = {
        label("sent", "bart_large"): BART_LARGE,
        label("sent", "whisper_large_v3"): WHISPER_LARGE_V3,
        label("sent", "yours", text=task.join_source(source), tokens=own.tokens): own,
    }
    most = max(max(sent.memory_bytes, sent.kv_bytes) for sent in named.values())
    for column, (name, sent) in zip(st.columns(3, gap="large"), named.items(), strict=True):
        with column:
            st.html(_bars(name, sent, most))
            if sent is own and not fits(settings.config):
                st.caption(label("sent", "yours_not_run"))
            elif sent is own and KV_WAYS[settings.kv].hands_over_heads:
                st.caption(label("sent", "yours_shared", layers=settings.dec_layers))
    st.caption(f"{label('sent', 'formula')} {label('sent', 'scale')}")
    ratios = {"bart_ratio": _ratio(BART_LARGE), "whisper_ratio": _ratio(WHISPER_LARGE_V3)}
    st.markdown(paragraph("wild", "sent", **ratios))


def in_words(num_bytes: int) -> str:
    """Bytes in decimal units: "50.3 MB", "2.1 MB", "896 bytes"."""
    for size, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if num_bytes >= size:
            return f"{number(num_bytes / size, 1)} {unit}"
    return counted(num_bytes, "byte")


def _ratio(sent: Sent) -> int:
    return round(sent.kv_bytes / sent.memory_bytes)


def _bars(name: str, sent: Sent, most: int) -> str:
    numbers = {"tokens": sent.tokens, "bytes": sent.bytes_per_number}
    memory = label("sent", "memory_formula", width=sent.d_model, **numbers)
    kv = label("sent", "kv_formula", layers=sent.layers, heads=sent.kv_heads, head_dim=sent.head_dim, **numbers)
    bars = _bar("memory", memory, sent.memory_bytes, most) + _bar("kv", kv, sent.kv_bytes, most)
    return f'<div class="sent"><p class="name">{verbatim(name)}</p>{bars}</div>'


def _bar(what: str, formula: str, num_bytes: int, most: int) -> str:
    share = 100 * num_bytes / most
    return (
        f'<p class="line"><b>{in_words(num_bytes)}</b> {label("sent", what)}</p>'
        f'<div class="bar {what}" style="width: {share:.4f}%"></div>'
        f'<p class="formula">{verbatim(formula)}</p>'
    )
