"""Parts of a script in plain PyTorch: `attention.export.script` puts those together that a model needs."""
