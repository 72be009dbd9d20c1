"""The paper's experiments: described in `experiments`, run by `engine`, shown by `page`."""
