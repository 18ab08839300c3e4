"""What a service keeps: what was asked for longest ago goes first."""

from attention.jobs.kept import Kept


def kept_of(**values: int) -> Kept[str, int]:
    kept = Kept()
    for key, value in values.items():
        kept.put(key, value)
    return kept


def test_what_was_asked_for_longest_ago_goes_first():
    kept = kept_of(a=1, b=1, c=1)
    assert kept.ask("a") == 1 and kept.ask("x") is None
    kept.forget(lambda _: (1,), (2,))
    assert list(kept) == ["c", "a"]
    kept.put("c", 7)
    assert list(kept.items()) == [("a", 1), ("c", 7)]


def test_each_size_has_a_limit_of_its_own():
    kept = kept_of(old=3, a=5, b=1, c=5)
    kept.forget(lambda size: (1, size), (3, 7))  # c and b and a are three, and 11 long
    assert list(kept) == ["b", "c"]


def test_what_has_no_size_stays_and_so_does_the_last_of_the_others():
    kept = kept_of(free=0, small=1, large=100, also_free=0)
    kept.forget(lambda size: (size,), (10,))
    assert list(kept) == ["free", "large", "also_free"]
