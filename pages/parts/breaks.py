"""Settings that break, one for each kind of failure, and how to tell which situation is shown."""

from dataclasses import replace

from pages.parts.settings import EQUAL, MAX_WIDTH, Settings, apply_preset, situation_of

# By the kind of failure that a ledger names (`attention.ledger.Step.kind`).
BREAKS: dict[str, dict] = {
    "heads": {**EQUAL, "dec_heads": 16, "kv": "direct", "keep": "size"},
    "head_size": {**EQUAL, "dec_dim": 16, "kv": "direct", "keep": "size"},
    "both": {**EQUAL, "dec_heads": 16, "dec_dim": 4, "kv": "direct", "keep": "width"},
    "one_decoder_head": {**EQUAL, "dec_heads": 1, "kv": "direct", "keep": "size"},
    "groups": {**EQUAL, "enc_heads": 4, "dec_heads": 6, "kv": "grouped", "keep": "size"},
    "surplus": {**EQUAL, "dec_heads": 4, "kv": "extra", "keep": "size"},
    "indivisible": {**EQUAL, "kv": "reproject", "keep": "width", "fault": "indivisible"},
    "w_o_expects_d_model": {
        **EQUAL, "dec_heads": 16, "kv": "reproject", "keep": "size", "fault": "w_o_expects_d_model",
    },
    "w_k_expects_decoder_width": {
        **EQUAL, "enc_width": 48, "enc_dim": 6, "kv": "reproject", "keep": "width",
        "fault": "w_k_expects_decoder_width",
    },
}  # fmt: skip
SHOWN_KIND = {"indivisible": "encoder", "w_o_expects_d_model": "decoder"}
FULL = 8  # the article's own figures are 8 times those of the trained miniatures
SIZES = ("enc_dim", "dec_dim", "enc_width", "dec_width")


def apply_break(settings: Settings, name: str) -> Settings:
    """Settings that fail in the named way, showing the kind of attention in which they do."""
    changed = replace(apply_preset(settings, "equal"), **BREAKS[name], kv_variant=None)
    return replace(changed, kind=SHOWN_KIND.get(name, "cross")).fitted()


def scaled(settings: Settings, up: bool) -> Settings:
    """The same head counts with widths and head sizes 8 times as large, or an eighth."""
    sizes = {name: getattr(settings, name) * FULL if up else getattr(settings, name) // FULL for name in SIZES}
    return replace(settings, **sizes)


def is_full_size(settings: Settings) -> bool:
    """Whether these are the article's own sizes rather than their miniature."""
    return settings.enc_width == settings.dec_width == MAX_WIDTH


def situation_in_any_size(settings: Settings) -> str | None:
    """The article's situation that these settings are, in miniature or in full size."""
    return situation_of(scaled(settings, up=False) if is_full_size(settings) else settings)


def break_of(settings: Settings) -> str | None:
    """The way of breaking that these settings show."""
    for name in BREAKS:
        wanted = apply_break(settings, name)
        if wanted.config == settings.config and wanted.fault == settings.fault:
            return name
    return None
