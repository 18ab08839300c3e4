"""Settings that break, one for each kind of failure, and how to tell which of them is shown."""

from dataclasses import replace

from pages.shapes.address import FAULT
from pages.shared.settings import Settings
from pages.shared.situations import EQUAL, apply_situation

# By the kind of failure that a ledger names (`attention.shapes.ledger.LedgerStep.kind`).
BREAKS: dict[str, dict] = {
    "heads": {**EQUAL, "dec_heads": 16, "kv": "direct", "keep": "size"},
    "head_size": {**EQUAL, "dec_dim": 16, "kv": "direct", "keep": "size"},
    "both": {**EQUAL, "dec_heads": 16, "dec_dim": 4, "kv": "direct", "keep": "width"},
    "one_decoder_head": {**EQUAL, "dec_heads": 1, "kv": "direct", "keep": "size"},
    "groups": {**EQUAL, "enc_heads": 4, "dec_heads": 6, "kv": "grouped", "keep": "size"},
    "surplus": {**EQUAL, "dec_heads": 4, "kv": "extra", "keep": "size"},
    "indivisible": {**EQUAL, "kv": "reproject", "keep": "width"},
    "w_o_expects_d_model": {**EQUAL, "dec_heads": 16, "kv": "reproject", "keep": "size"},
    "w_k_expects_decoder_width": {**EQUAL, "enc_width": 48, "enc_dim": 6, "kv": "reproject", "keep": "width"},
}
SHOWN_KIND = {"indivisible": "encoder", "w_o_expects_d_model": "decoder"}


def apply_break(settings: Settings, name: str) -> Settings:
    """Settings that fail in the named way, showing the kind of attention in which they do."""
    changed = replace(apply_situation(settings, "equal"), **BREAKS[name], kv_variant=None)
    changed = changed.put(FAULT, name if name in FAULT.allowed else None)
    return replace(changed, kind=SHOWN_KIND.get(name, "cross")).fitted()


def break_of(settings: Settings) -> str | None:
    """The way of breaking that these settings show."""
    for name in BREAKS:
        wanted = apply_break(settings, name)
        if wanted.same_model(settings) and wanted[FAULT] == settings[FAULT]:
            return name
    return None
