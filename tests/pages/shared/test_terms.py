"""The glossary: one meaning for each form, the terms that the pages use, and a section of all of them."""

import re
from collections import Counter
from html import unescape

from app_test import open_page

from pages.shared.texts import catalogue, prose

NEEDED = """attention, head, query, key, value, token, </s>, encoder, decoder, memory, held-out, test words, entropy,
d_model, K/V head, seed, W_O, MHA, GQA, MQA, residual stream, teacher-forced""".replace("\n", " ").split(", ")


def forms_of(term):
    return [term["name"], *term["also"]]


def test_each_form_belongs_to_one_term():
    forms = Counter(form.lower() for term in catalogue()["terms"].values() for form in forms_of(term))
    assert {form for form, count in forms.items() if count > 1} == set()
    assert {form.lower() for form in NEEDED} <= forms.keys()


def test_a_term_is_explained_in_a_sentence_without_itself_alone():
    for term in catalogue()["terms"].values():
        assert term["means"].endswith(".") and len(term["means"]) < 220
        assert not term["means"].lower().startswith(term["name"].lower())


def test_most_terms_occur_in_the_texts():
    """A term of which no page speaks would be a word too many."""
    written = " ".join(str(text) for page in ("playground", "anchors", "shapes", "redundancy", "wild", "compare")
                       for text in prose(page).values()) + str(catalogue())  # fmt: skip
    spoken = re.sub(r"'terms': \{.*?\}\}", "", written)
    for term in catalogue()["terms"].values():
        assert any(form.lower() in spoken.lower() for form in forms_of(term)), term["name"]


def test_the_playground_has_a_section_of_all_terms():
    (section,) = (e.proto.body for e in open_page().get("html") if 'class="glossary"' in e.proto.body)
    names = [unescape(name) for name in re.findall("<dt>(.*?)</dt>", section)]
    assert names == [term["name"] for term in catalogue()["terms"].values()]
    assert all(term["means"] in unescape(section) for term in catalogue()["terms"].values())
