from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "beyond.md"
RESULTS = ROOT / "docs" / "beyond" / "results.csv"


def write_page(rows, out):
    pass
