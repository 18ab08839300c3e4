"""Work for many visitors at once: trainings, removals and comparisons, on this machine's workers or a Dask cluster."""
