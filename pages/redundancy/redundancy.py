"""Redundancy: which heads are needed, which do the same, and how one can tell."""

from attention.ablation.silence import ZERO
from attention.cross_attention import fits
from attention.shapes.costs import num_parameters
from attention.tasks import Tokens
from pages.redundancy import layers as lab_layers
from pages.redundancy import pairs as lab_pairs
from pages.redundancy import removal as lab_removal
from pages.redundancy import shared_keys as lab_shared
from pages.redundancy import twins as lab_twins
from pages.redundancy.address import PART
from pages.redundancy.measured import MEASURABLE
from pages.shared import session, sidebar
from pages.shared.answer import draw_answer, notice, read_text
from pages.shared.failure import draw_failure
from pages.shared.models import NUM_WORDS, ModelRecord, record_of, word_view
from pages.shared.style import draw_stylesheet
from pages.shared.texts import label, number
from pages.shared.title import draw_title
from pages.shared.training_panel import draw_ways_to_trained
from pages.shared.widgets import linked

# Only the part that is on the screen is computed.
DRAWN = {
    "removal": lab_removal.draw,
    "pairs": lab_pairs.draw,
    "layers": lab_layers.draw,
    "twins": lab_twins.draw,
    "shared": lab_shared.draw,
}


def draw_model(record: ModelRecord, source: Tokens, part: str) -> None:
    """The word and its answer, and how far what follows can be trusted."""
    draw_answer(record, word_view(record, source), broken=False, switches_here=part == "removal")
    if record.is_random:
        notice(label("lab", "not_a_finding"))
    elif record.is_half_trained:
        notice(label("lab", "half_trained"))
    if not record.is_trained and part != "layers":  # which has a panel of its own for trainings
        draw_ways_to_trained(session.current())


settings = session.for_page()
source, refusals = read_text(settings)

draw_stylesheet("redundancy")
draw_title(label("app", "redundancy"), label("lab", "intro", count=NUM_WORDS))
about_settings = settings[PART] != "shared"  # which is about models that ship, whatever the settings are
offered = sidebar.heads_offered() if about_settings else None
sidebar.draw(text=about_settings, model=about_settings, offered=offered)
if about_settings:
    sidebar.draw_on_phone(offered)
notice(*session.notices(), *refusals)
part = linked(PART, lambda name: label("lab", name), label("lab", "part"))
if not about_settings:
    DRAWN[part](settings, None, source)
elif not fits(settings.config):
    draw_failure(settings, source, label("lab", "stops"))
elif (weights := num_parameters(settings.config)) > MEASURABLE:
    figures = {"weights": number(weights / 1e6, 1), "limit": number(MEASURABLE / 1e6, 0)}
    notice(label("lab", "too_large", count=NUM_WORDS, **figures))
else:
    record = record_of(settings)
    draw_model(record, source, part)
    whole = record.without_heads((), ZERO)  # what is switched off or overwritten in these two parts
    DRAWN[part](settings, whole if part in ("removal", "twins") else record, source)
