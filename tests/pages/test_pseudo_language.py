"""Every word that a visitor reads comes from the language's folder: seen in a language whose texts are all bracketed.

All that is sent to the browser is looked at, on every page and in every state of it; see `pseudo_language`.
"""

import csv
from itertools import chain

import pytest
from app_test import APP, checked, open_page
from by_hand import service_by_hand
from pseudo_language import (
    code_of,
    english_in_script,
    html_texts,
    pieces,
    texts_of,
    words_outside,
    write_pseudo_language,
)
from streamlit.testing.v1 import local_script_runner

from attention.config import KV_VARIANTS
from attention.experiments.published import EQUAL_MODELS, PUBLISHED_MODELS
from attention.experiments.silent_failures import SILENT_FAILURES
from attention.jobs import training_service as jobs
from attention.metrics.measures import MEASURES
from attention.quiz import KINDS, make_quiz
from attention.shapes import FAULTS
from attention.tasks import TASKS, get_task
from attention.tasks.dates.written_dates import MONTHS
from attention.tasks.reverse import Reverse
from pages.anchors.address import EXPERIMENT
from pages.article.address import TRIED
from pages.compare.address import FIELDS
from pages.lesson.ahead import NUM_TRIED
from pages.lesson.plan import plan, printed_plan
from pages.lesson.sheet import Handed, sheet, table
from pages.lesson.steps import STEPS
from pages.lesson.words import BY_THE_NEXT_LETTER, WITH_LONG_VOWELS, WITH_SILENT_LETTERS
from pages.redundancy.address import PART
from pages.shared import models, texts, training_panel
from pages.shared.every_page import PAGES, all_declared
from pages.shared.settings import KV_HEADS, LONGEST_TEXT, SHARED, Settings
from pages.shared.situations import SITUATIONS, apply_situation
from pages.wild.published import miniature_of

# Letters that are no language's: names of measures and methods, units.
SYMBOLS = {"cos", "CKA", "JS", "TV", "x", "y", "d_model", "MHA", "GQA", "MQA", "MB", "kB", "GB", "s"}
SOURCES = [
    *(model.source for model in EQUAL_MODELS),
    *(source for model in PUBLISHED_MODELS for sources in vars(model.sources).values() for source in sources),
]
NAMES = {
    word
    for text in (
        *(model.name for model in (*PUBLISHED_MODELS, *EQUAL_MODELS)),
        *(text for source in SOURCES for text in (source.name, source.part)),
    )
    for word in pieces(text)
}
EXAMPLES = {"bird", "frog", "moth", "owl", "tiger", "ox"}  # words that a silent failure mixes up
EXAMPLES |= {*WITH_SILENT_LETTERS, *WITH_LONG_VOWELS, *BY_THE_NEXT_LETTER}  # and those of the lesson
EXAMPLES |= {"".join(example.source) for example in get_task("spelling").held_out(NUM_TRIED)}
MONTH_NAMES = {month.title() for month in MONTHS}  # of English dates, which is what that task reads
# Names and values in addresses, which are no language's either.
SCRIPT = (".navigation.app_pages[].page_name", APP.stem)  # Streamlit's own, before the pages have names
PARAMETERS = (*SHARED, *all_declared())
ADDRESSES = {
    "kv_variant",
    "layer",
    "head",
    "compare",
    *KV_HEADS,
    *FIELDS,
    *chain(*FIELDS.values()),
    *chain(*KV_VARIANTS.values()),
}
ADDRESSES |= {name for parameter in PARAMETERS for name in (parameter.name, *getattr(parameter, "allowed", ()))}


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    """The folder of the pseudo-language."""
    root = tmp_path_factory.mktemp("texts")
    write_pseudo_language(texts.LANGUAGES / "en", root / "pseudo")
    return root


@pytest.fixture
def sent(language, monkeypatch):
    """A server in the pseudo-language, and all messages that go to the browser."""
    messages, parse = [], local_script_runner.parse_tree_from_messages

    def keep_and_parse(more):
        messages.extend(more)
        return parse(more)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", keep_and_parse)
    monkeypatch.setattr(texts, "LANGUAGES", language)
    monkeypatch.setenv(texts.SETTING, "pseudo")
    texts.forget()
    yield messages
    monkeypatch.undo()
    texts.forget()


def words_from_elsewhere(sent: list, task: str = "spelling", typed: tuple[str, ...] = ()) -> dict[str, str]:
    """Words outside the brackets with where they stand; `typed` is what the visitor wrote, and answers to it."""
    allowed = words_of_no_language(task, typed)
    code = {code_of(message) for message in sent}  # shown in a table too
    return {
        f"{where}: {word}": text
        for message in sent
        for where, text in texts_of(message)
        if (where, text) != SCRIPT and text.removeprefix("✗ ") not in code
        for word in words_outside(text, allowed)
    }


def words_of_no_language(task: str = "spelling", typed: tuple[str, ...] = ()) -> set[str]:
    task_of = get_task(task)
    typed = (*typed, *task_of.examples, *(task_of.join_source(task_of.nearest(text)) for text in typed))
    shown = {word for text in typed for word in (text, *text, *pieces(text), *pieces(text.lower()), *pieces(text[:24]))}
    tokens = {*task_of.src_vocab.tokens, *task_of.tgt_vocab.tokens, "‹/s›"}
    return tokens | shown | SYMBOLS | NAMES | ADDRESSES | EXAMPLES | MONTH_NAMES


def address(**values) -> dict:
    return values


PLAYGROUND = [
    *(address(task=task) for task in TASKS),
    *(apply_situation(Settings(), name).to_address() for name in SITUATIONS),
    address(kind="encoder", view="layers"),
    address(kind="decoder", layer=1, head=3),
    address(text="no way 3", enc_heads=99, head="x", kv="foo", seed="", layer=7, demo="bar"),
    address(text="a" * 500, kv="grouped", kv_variant="full", enc_kv_heads=3, dec_kv_heads="many", compare="nothing"),
    address(enc_heads=4, dec_heads=8, enc_kv_heads=2, dec_kv_heads=1, kind="encoder"),
    address(enc_heads=1, dec_heads=1, seed=5, moment=50),
    address(enc_heads=8, dec_heads=16, dec_dim=4, kv="direct", kind="decoder", layer=2),
    address(enc_heads=8, dec_heads=16, dec_dim=8, keep="size", kv="extra", kv_variant="states", layer=1),
    address(enc_heads=8, dec_heads=16, dec_dim=8, keep="size", kv="projection", kv_variant="mix"),
    address(enc_heads=8, dec_heads=4, dec_dim=8, keep="size", kv="grouped", kv_variant="drop"),
    address(enc_heads=1, dec_heads=8, enc_dim=8, kv="direct"),
    *(address(task="dates", text=text) for text in ("3/11/1994", "30 Feb 1999", "1.1.1850", "tomorrow", "3 Nov", "")),
    *(address(task="pinyin", text=text) for text in ("銀行 <b>", "", "我" * 30)),
    *(address(task="reverse", text=text) for text in ("a b", "a", "ä1", "a" * 40)),
    *(address(text=text) for text in ("", "x", "two words", "a-b", "🙂")),
    miniature_of(PUBLISHED_MODELS[0], Settings()).to_address(),
]
SHAPES = [
    *(apply_situation(Settings(), name).to_address() for name in SITUATIONS),
    *(address(fault=fault, dec_dim=16, kind=kind) for fault in FAULTS for kind in ("decoder", "cross")),
    *(address(demo=demo) for demo in SILENT_FAILURES),
    address(enc_heads=8, dec_heads=4, dec_dim=8, kv="extra", keep="size"),
    address(enc_heads=1, dec_heads=8, enc_dim=8, kv="direct"),
    address(enc_heads=6, dec_heads=8, kv="grouped"),
]
ANCHORS = [
    address(),
    *(address(experiment=name, enc_heads=8, dec_heads=8, head=3, lines="one") for name in EXPERIMENT.allowed),
    address(enc_heads=8, dec_heads=16, dec_dim=8, kv="extra", keep="size", experiment="off"),
    address(enc_heads=8, dec_heads=16, kv="direct"),
    address(task="pinyin", step=99),
]
REDUNDANCY = [
    address(),
    *(address(part=part, enc_heads=8, dec_heads=8) for part in PART.allowed),
    *(address(measure=measure, enc_heads=8, dec_heads=8) for measure in MEASURES),
    *(address(part=part, enc_heads=1, dec_heads=1, enc_layers=1) for part in PART.allowed),
    address(enc_heads=8, dec_heads=16, dec_dim=8, kv="direct", keep="size"),
    address(width=512, enc_layers=6, dec_layers=6),
    address(task="dates", part="removal"),
]
COMPARE = [
    address(),
    address(compare="sweep-spelling-8-5-600"),
    address(compare="sweep-reverse-8-3-250"),
    address(compare="fixes-dates-8-8-size-2-50"),
    address(compare="fixes-spelling-8-12-width-1-50"),
    address(compare="sweep-pinyin-32-10-5000"),
]
ARTICLE = [
    address(),
    *(address(claim=claim) for claim in TRIED.allowed),
    address(claim="A5-A99"),
]
LISTED = {"shapes", "anchors", "redundancy", "compare", "article"}  # of the others, the page as it opens is enough
EVERYWHERE = [
    *(("", given) for given in PLAYGROUND),
    *(("shapes", given) for given in SHAPES),
    *(("anchors", given) for given in ANCHORS),
    *(("redundancy", given) for given in REDUNDANCY),
    *(("compare", given) for given in COMPARE),
    *(("article", given) for given in ARTICLE),
    *((page, address()) for page in list(PAGES)[1:] if page not in LISTED),
]
SAMPLE = [
    ("", address(kind="decoder", layer=1, head=3)),
    ("shapes", apply_situation(Settings(), "mismatch").to_address()),
    ("shapes", address(demo="tiled_kv")),
    ("anchors", address()),
    ("redundancy", address(part="twins")),
    ("compare", address()),
    ("article", address(claim="A5-A12")),
    *((page, address()) for page in list(PAGES)[1:] if page not in LISTED),
]
TRAINED = address(task="reverse", text="abc", width=16, enc_heads=2, dec_heads=4, enc_layers=1, dec_layers=1)


def check(sent: list, page: str, given: dict) -> None:
    open_page(page, **given)
    text = given.get("text", "knight")
    typed = (text, text[:LONGEST_TEXT], *map(str, given.values()))
    assert not words_from_elsewhere(sent, given.get("task", "spelling"), typed)


@pytest.mark.parametrize(
    "text, found",
    [
        ("⟦Type a ⟧word", ["word"]),
        ("⟦Type a word⟧", []),
        ("⟦Heads ⟧1 and 6⟦.⟧", ["and"]),
        ("**n** · W_Q·W_Kᵀ, 50.3 MB ⟦sent⟧ `x = head`", []),
        ("[2405.05254](https://arxiv.org/abs/2405.05254) %{hovertext}<extra></extra>", []),
    ],
)
def test_a_word_outside_the_brackets_is_found(text, found):
    assert words_outside(text, SYMBOLS | {"n"}) == found


@pytest.mark.parametrize("page, given", SAMPLE, ids=str)
def test_every_word_of_a_page_comes_from_the_language(sent, page, given):
    check(sent, page, given)


@pytest.mark.slow
@pytest.mark.parametrize("page, given", EVERYWHERE, ids=str)
def test_every_word_comes_from_the_language_everywhere(sent, page, given):
    check(sent, page, given)


def test_every_word_about_a_training_comes_from_the_language(sent, monkeypatch):
    """Waiting, under way, stopped, failed, scored."""
    service, executor = service_by_hand(monkeypatch)
    for module in (models, training_panel):
        monkeypatch.setattr(module, "training_service", lambda: service)
    monkeypatch.setattr(Reverse, "num_steps", 50)
    monkeypatch.setattr(jobs, "NUM_EXAMPLES", 20)
    app = open_page(**TRAINED)
    for key in ("train", "stop", "train"):
        checked(app.button(key=key).click().run())
        executor.run(service)
        checked(app.run())
    while service.progress(wanted := models.training_settings(app.session_state["settings"])).open:
        executor.run(service)
        checked(app.run())
    assert service.progress(wanted).status == "done"
    failing = open_page(**{**TRAINED, "seed": 1})
    checked(failing.button(key="train").click().run())
    executor.run(service, ValueError("…"))
    checked(failing.run())
    assert not words_from_elsewhere(sent, "reverse", ("abc", "cba"))


QUIZZES = 20  # of ten questions each: every kind is among them


def test_every_kind_of_question_is_among_the_quizzes():
    assert {question.kind for seed in range(QUIZZES) for question in make_quiz(seed)} == set(KINDS)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(QUIZZES))
def test_every_word_of_a_quiz_and_its_answers_comes_from_the_language(sent, seed):
    app = open_page("lesson", quiz=seed)
    for radio, question in zip(app.radio, make_quiz(seed), strict=True):
        radio.set_value((question.right + 1) % len(question.choices))
    checked(app.run())
    assert not words_from_elsewhere(sent)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 1 + len(STEPS)))
def test_every_word_of_a_step_of_the_lesson_comes_from_the_language(sent, number):
    app = open_page("lesson", lesson=number)
    app = checked(app.button(key="lesson_skip").click().run())
    assert not words_from_elsewhere(sent)


@pytest.mark.slow
def test_every_word_of_a_sheet_a_table_and_a_plan_comes_from_the_language(sent):
    handed = [
        Handed(step.text("title"), step.question(), next(iter(step.choices().values())), "", "", step.bars())
        for step in STEPS
    ]
    written = [text for page in (sheet("", handed), printed_plan()) for _, text in html_texts("", page)]
    written += [*chain(*csv.reader(table("", handed).splitlines())), *plan().splitlines()]
    allowed = words_of_no_language()
    assert len(written) > 100
    assert not [(word, text) for text in written for word in words_outside(text, allowed)]


@pytest.mark.parametrize("script", sorted((APP.parent / "pages").rglob("*.js")), ids=lambda path: path.name)
def test_scripts_have_no_words_of_their_own(script):
    assert not english_in_script(script.read_text(encoding="utf-8"))
