"""What is done to data before a fit: labels, categories, equal samples, scaling."""
