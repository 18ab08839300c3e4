"""Names in the address that are no settings: which one was meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from attention.messages import Message
from pages.shared.parameters import notice, shown

# Names that others give to the same things, which spelling alone would not find.
MEANT = {
    "heads": ("enc_heads", "dec_heads"),
    "num_heads": ("enc_heads", "dec_heads"),
    "n_heads": ("enc_heads", "dec_heads"),
    "encoder_heads": ("enc_heads",),
    "decoder_heads": ("dec_heads",),
    "kv_heads": ("enc_kv_heads", "dec_kv_heads"),
    "num_kv_heads": ("enc_kv_heads", "dec_kv_heads"),
    "dim": ("enc_dim", "dec_dim"),
    "head_dim": ("enc_dim", "dec_dim"),
    "layers": ("enc_layers", "dec_layers"),
    "num_layers": ("enc_layers", "dec_layers"),
    "d_model": ("width",),
    "word": ("text",),
    "noise": ("strength",),
    "variant": ("kv_variant",),
}
# Of Streamlit, of search engines and of others who follow a link.
OF_OTHERS = re.compile(r"embed|utm_|fbclid$|gclid$|msclkid$|__|ref$|lang$", re.IGNORECASE)


def misspelt(name: str, names: Iterable[str]) -> Message | None:
    """A sentence about a name that is none of `names`; None where nobody can have meant a setting by it."""
    if OF_OTHERS.match(name):
        return None
    plain = name.lower().replace("-", "_")
    meant = MEANT.get(plain) or tuple(get_close_matches(plain, sorted(names), n=1, cutoff=0.7))
    if not meant:
        return None
    english = "{name} is not a setting; did you mean {said}?"
    return notice("misspelt", english, name=shown(name), said=" and ".join(meant), meant=meant)
