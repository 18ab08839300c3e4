"""Which experiment belongs to which claim."""

from collections.abc import Callable

from pages.article import by_ledger, by_runs, with_models, with_numbers

# By claim, what draws it for a theme.
EXPERIMENTS: dict[str, Callable[[str], None]] = {
    "A1": by_ledger.draw_head_counts,
    "A2": with_models.draw_disturbed,
    "A3": with_numbers.draw_what_is_read,
    "A4": with_models.draw_other_values,
    "A5": by_ledger.draw_mismatch,
    "A6": with_numbers.draw_ranks,
    "A7": by_ledger.draw_problem_2,
    "A8": with_models.draw_scores_and_shared_keys,
    "A9": with_models.draw_effective_maps,
    "A10": by_runs.draw_entropy,
    "A11": by_ledger.draw_fix_1,
    "A12": by_ledger.draw_fix_2,
    "A13": by_ledger.draw_fix_3,
    "A15": by_runs.draw_differences,
}
