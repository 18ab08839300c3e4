"""What only this page has in the address."""

from attention.checkpoints import shipped
from attention.config import ModelConfig
from attention.experiments.disturbed_memory import DISTURBANCES
from pages.shared.parameters import Choice, Places, Tenths, Whole
from pages.shared.settings import LONGEST_TEXT, MAX_HEADS, MAX_STEP


def name_of(config: ModelConfig) -> str:
    """A shipped model by its head counts and sizes, "8x8-16x4", and its K/V way where that is not the textbook's."""
    enc, dec = config.encoder, config.decoder
    way = "" if config.kv == "reproject" else f"-{config.kv}"
    return f"{enc.num_heads}x{enc.head_dim}-{dec.num_heads}x{dec.head_dim}{way}"


STEP = Whole("step", low=1, high=MAX_STEP)  # of the decoding
LINES = Choice("lines", "all", allowed=("all", "one"))  # of the heads, while a word is decoded
EXPERIMENT = Choice(
    "experiment",
    "hidden",  # the simplest one comes first
    allowed=("hidden", *(kind for kind in DISTURBANCES if kind != "hidden"), "misuse", "other"),
)  # what is done to the anchor
STRENGTH = Tenths("strength", 0.6, low=0.0, high=2.0)  # of the noise
HIDDEN = Places("hidden", (1,), high=LONGEST_TEXT)  # letters hidden from the decoder
LOADED = Whole("loaded", low=1, high=MAX_HEADS)  # heads that the weights are loaded into, by misuse
OTHER = Choice("other", allowed=tuple(dict.fromkeys(name_of(config) for _, config in shipped())))  # shipped model
PARAMETERS = (STEP, LINES, EXPERIMENT, STRENGTH, HIDDEN, LOADED, OTHER)
