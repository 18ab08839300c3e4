"""What the pages run: a disturbed memory, silent failures, ways compared, published models in miniature."""
