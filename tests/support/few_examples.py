"""How often Hypothesis tries what is costly to try: builds a model, runs a script, computes a quiz."""

from hypothesis import settings

COSTLY = settings(max_examples=min(100, settings().max_examples))
