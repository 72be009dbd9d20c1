"""The paper's experiments: described in `experiments`, run by `engine`, shown by `results_page`."""
