"""What a lecturer's link holds: `lock` names what stays visible and cannot be changed, `show` what is drawn.

    lock=heads-kv       the head counts and the K/V way are as the address says, whatever is pressed
    lock=pages          the other pages are seen in the navigation, and no click leads to one
    show=word           of the groups, only the word is drawn; all else of them is hidden, and held as well

Names are settings, or groups of them. A convenience and no protection: who changes the address changes both. Nothing
here knows Streamlit.
"""

from collections.abc import Iterable

from pages.shared.parameters import Choice, Several

GROUPS: dict[str, tuple[str, ...]] = {
    "heads": (
        *("enc_heads", "enc_dim", "enc_layers", "enc_width", "enc_kv_heads"),
        *("dec_heads", "dec_dim", "dec_layers", "dec_width", "dec_kv_heads", "keep"),
    ),
    "kv": ("kv", "kv_variant"),
    "task": ("task",),
    "word": ("text",),
    "pages": ("pages",),
}
SETTINGS = tuple(name for names in GROUPS.values() for name in names if name != "pages")
OTHERS = ("kind", "layer", "head", "seed", "off")  # settings of no group: they can be locked, and are always drawn

LOCK = Several("lock", allowed=tuple(dict.fromkeys((*GROUPS, *SETTINGS, *OTHERS))))
SHOW = Several("show", allowed=tuple(dict.fromkeys((*GROUPS, *SETTINGS))))
PRESENT = Choice("present", allowed=("1",))  # shown to an audience
CARRIED = (LOCK, SHOW, PRESENT)  # what links carry on


def _named(names: Iterable[str] | None) -> set[str]:
    return {field for name in names or () for field in GROUPS.get(name, (name,))}


def hidden(settings) -> set[str]:
    """Settings, and "pages", that are not drawn."""
    shown_names = settings[SHOW]
    return {field for names in GROUPS.values() for field in names} - _named(shown_names) if shown_names else set()


def hidden_groups(settings) -> set[str]:
    """The groups of which nothing is drawn."""
    return {group for group, names in GROUPS.items() if {*names} <= hidden(settings)}


def held(settings) -> set[str]:
    """Settings, and "pages", that nothing on a page may change."""
    return _named(settings[LOCK]) | hidden(settings)


def hold(before, after):
    """`after` with all that is held in `before` as it is there."""
    kept = held(before) - {"pages"}
    for field in sorted(kept):
        after = after.put(field, before[field])
    for parameter in CARRIED:
        if before[parameter] != after[parameter]:
            after = after.put(parameter, before[parameter])
    return after


def carried(settings) -> dict[str, str]:
    """What a link made with these settings on the screen has to have beside its own."""
    return {parameter.name: parameter.word(settings[parameter]) for parameter in CARRIED if settings[parameter]}
