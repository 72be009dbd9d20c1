"""HTML pages about a trained model and about a comparison of models.

A page is one file that needs no other: styles, figures (SVG) and the few lines of script of the
sortable tables are inside.
"""

from .comparison_report import ModelResult, write_comparison_report
from .training_report import write_training_report

__all__ = ["ModelResult", "write_comparison_report", "write_training_report"]
