"""What only this page has in the address."""

from pages.shared.parameters import Several

# The claims whose experiment is open; what a claim says of models that nobody can run here has none.
TRIED = Several("claim", allowed=tuple(f"A{number}" for number in (*range(1, 14), 15)))
PARAMETERS = (TRIED,)
