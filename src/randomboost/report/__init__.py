"""HTML reports on a trained model and on a comparison of models.

A report is one self-contained file: it includes the style sheet, the figures (SVG) and the script
that sorts the tables.
"""

from .comparison_report import ModelResult, write_comparison_report
from .training_report import write_training_report

__all__ = ["ModelResult", "write_comparison_report", "write_training_report"]
