"""The map of the package: names, sizes, and imports that point downwards.

The source is read with `ast`, so imports inside functions and those for type checkers count. Every
rule is a function from a package to what it finds there; rules are tried on small packages that
break them, then the real one has to give nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SOURCE = Path(__file__).parents[2] / "src" / "randomboost"
ROOT = "randomboost"
MOST_LINES = 500
SHARED_NAMES = {"__init__", "__main__", "base"}
TOP_LEVEL = {"__init__", "__main__", "losses", "skops", "significance", "theory"}

# Lowest first. A folder imports from those of earlier lines only, and not from those of its own.
ORDER = (
    ("runtime",),
    ("losses", "significance", "theory"),
    ("preprocessing",),
    ("projections",),
    ("search",),
    ("weak_learners",),
    ("solvers",),
    ("trees",),
    ("explain",),
    ("ensembles",),
    ("training",),
    ("estimators",),
    ("files",),
    (ROOT,),  # `randomboost` itself, which gives the public names of the lines above
    ("dask", "export", "skops"),
    ("plots",),
    ("compare", "datasets", "reading", "report"),
    ("paper",),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}

# (importing module, imported module): reason. They count neither as upwards nor in cycles.
EXCEPTIONS = {
    ("estimators.fitted", "files"): "model.save(path), for users; at run time, when it is called",
}
# What modules below it may take from the package itself all the same: constants.
FROM_ROOT = {"__version__"}
# Modules that import by a name in a string, which this test cannot read.
IMPORT_BY_STRING = {
    ROOT: "public names are loaded when they are first used, so that `import randomboost` is quick",
}

MODELS = {"classifier", "estimator", "fitted", "model"}
OWNER_OF_PRIVATE_NAMES = "estimators"
OWNER_OF_KINDS = "ensembles"


# -- reading a package ---------------------------------------------------------------------------


class Import(NamedTuple):
    """That a module imports another one, or a name of it."""

    importer: str
    imported: str
    name: str
    line: int


@dataclass
class Package:
    """The modules of a package by their names without the package's; `ROOT` is its `__init__`."""

    folder: Path
    paths: dict[str, Path] = field(default_factory=dict)
    trees: dict[str, ast.Module] = field(default_factory=dict)

    def __post_init__(self):
        for path in sorted(self.folder.rglob("*.py")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or ROOT
            self.paths[name] = path
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))

    def place(self, module: str, line: int) -> str:
        return f"{self.paths[module].relative_to(self.folder).as_posix()}:{line}"

    def nodes(self, *, outside: str = "") -> Iterator[tuple[str, ast.AST]]:
        for module, tree in self.trees.items():
            if top(module) != outside:
                for node in ast.walk(tree):
                    yield module, node

    def imports(self) -> Iterator[Import]:
        for module, node in self.nodes():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == ROOT:
                        target = alias.name.removeprefix(f"{ROOT}.")
                        yield Import(module, self._known(target, module, node), "", node.lineno)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(module, node)
                for alias in node.names if base is not None else ():
                    inner = alias.name if base == ROOT else f"{base}.{alias.name}"
                    if inner in self.trees:
                        yield Import(module, inner, "", node.lineno)
                    else:
                        base = self._known(base, module, node)
                        yield Import(module, base, alias.name, node.lineno)

    def _base(self, module: str, node: ast.ImportFrom) -> str | None:
        """Return the module that a `from ... import` names, None where it is another package's."""
        if not node.level:
            parts = node.module.split(".")
            return ".".join(parts[1:]) or ROOT if parts[0] == ROOT else None
        parts = [] if module == ROOT else module.split(".")
        above = node.level - (self.paths[module].name == "__init__.py")
        parts = parts[: len(parts) - above] + (node.module.split(".") if node.module else [])
        return ".".join(parts) or ROOT

    def _known(self, target: str, module: str, node: ast.AST) -> str:
        assert target in self.trees, f"{self.place(module, node.lineno)}: there is no {target}"
        return target


def top(module: str) -> str:
    return module.split(".")[0]


def dotted(node: ast.AST) -> str:
    """Return the last word of `name` or `some.name`, "" for other expressions."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def excepted(one: Import) -> bool:
    """Return whether an import counts neither as upwards nor in cycles."""
    constant = one.imported == ROOT and one.name in FROM_ROOT
    return constant or (one.importer, one.imported) in EXCEPTIONS


# -- rules ---------------------------------------------------------------------------------------


def repeated_names(package: Package) -> list[str]:
    found = defaultdict(list)
    for path in package.paths.values():
        found[path.stem].append(path.relative_to(package.folder).as_posix())
    return [
        f"{' and '.join(paths)} have one name"
        for name, paths in found.items()
        if len(paths) > 1 and name not in SHARED_NAMES
    ]


def long_modules(package: Package) -> list[str]:
    lengths = {path: len(path.read_text().splitlines()) for path in package.paths.values()}
    return [
        f"{path.relative_to(package.folder).as_posix()} has {length} lines"
        for path, length in lengths.items()
        if length > MOST_LINES
    ]


def misplaced(package: Package) -> list[str]:
    """Return what stands at the top level beside public modules and folders with a place."""
    found = []
    for path in sorted(package.folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__":
            if path.name not in LEVEL:
                found.append(f"{path.name}/ has no place in ORDER")
            if path.name in TOP_LEVEL:
                found.append(f"{path.name}/ should be a module")
        elif path.suffix == ".py" and path.stem not in TOP_LEVEL:
            found.append(f"{path.name} belongs in a folder")
    return found


def upward_imports(package: Package) -> list[str]:
    found = []
    for one in package.imports():
        lower, upper = top(one.importer), top(one.imported)
        downwards = LEVEL.get(upper, len(ORDER)) < LEVEL.get(lower, -1)
        if not (downwards or lower == upper or excepted(one)):
            name = f" ({one.name})" if one.name else ""
            found.append(f"{package.place(one.importer, one.line)} imports {one.imported}{name}")
    return found


def import_cycles(package: Package) -> list[str]:
    """Return the sets of modules of which each imports, through others, all the others."""
    edges = set()
    for one in package.imports():
        if excepted(one):
            continue
        edges.add((one.importer, one.imported))
        # the packages around a module run before it, but those that the importer is in run anyway
        parts = one.imported.split(".")
        for size in range(1, len(parts)):
            around = ".".join(parts[:size])
            if not f"{one.importer}.".startswith(f"{around}."):
                edges.add((one.importer, around))
    names = list(package.trees)
    places = {name: place for place, name in enumerate(names)}
    rows = [places[importer] for importer, _ in edges]
    columns = [places[imported] for _, imported in edges]
    graph = coo_array(([1] * len(edges), (rows, columns)), shape=(len(names), len(names)))
    n_groups, groups = connected_components(graph.tocsr(), connection="strong")
    members = [
        [name for name, own in zip(names, groups, strict=True) if own == group]
        for group in range(n_groups)
    ]
    itself = [f"{importer} imports itself" for importer, other in edges if importer == other]
    return itself + [
        f"cycle of {', '.join(group)}: "
        + ", ".join(sorted(f"{a} -> {b}" for a, b in edges if a in group and b in group))
        for group in members
        if len(group) > 1
    ]


def imports_by_string(package: Package) -> list[str]:
    return [
        f"{package.place(module, node.lineno)} imports by a string"
        for module, node in package.nodes()
        if isinstance(node, ast.Call)
        and dotted(node.func) in {"import_module", "__import__"}
        and module not in IMPORT_BY_STRING
    ]


def private_reads(package: Package) -> list[str]:
    """Return the private attributes of estimators that are used outside their folder."""
    found = []
    for module, node in package.nodes(outside=OWNER_OF_PRIVATE_NAMES):
        owner, name = _attribute(node)
        if owner in MODELS and re.match("_[^_]", name):
            found.append(f"{package.place(module, node.lineno)} uses {owner}.{name}")
    return found


def _attribute(node: ast.AST) -> tuple[str, str]:
    """Return object and attribute of `x.name` and of `getattr(x, "name")` and the like."""
    if isinstance(node, ast.Attribute):
        return dotted(node.value), node.attr
    by_string = {"getattr", "hasattr", "setattr", "delattr"}
    if isinstance(node, ast.Call) and dotted(node.func) in by_string and len(node.args) > 1:
        return dotted(node.args[0]), str(getattr(node.args[1], "value", ""))
    return "", ""


def kinds_asked_for(package: Package) -> list[str]:
    """Return the checks whether an object is of a class of `ensembles` outside that folder."""
    kinds = {
        node.name
        for module, tree in package.trees.items()
        if top(module) == OWNER_OF_KINDS
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = []
    for module, tree in package.trees.items():
        if top(module) == OWNER_OF_KINDS:
            continue
        words = _names_for(tree, kinds)
        for node in ast.walk(tree):
            for asked in _classes_asked_for(node):
                if any(dotted(part) in words for part in ast.walk(asked)):
                    place = package.place(module, asked.lineno)
                    found.append(f"{place} asks for {ast.unparse(asked)}")
    return found


_GROUPS = (ast.Tuple, ast.List, ast.Set, ast.BinOp, ast.Name)


def _names_for(tree: ast.Module, kinds: set[str]) -> set[str]:
    """Return classes with their other names in a module, and names of groups with them."""
    words = set(kinds)
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name in kinds and node.asname:
            words.add(node.asname)
    for node in tree.body:
        grouped = isinstance(node, ast.Assign) and isinstance(node.value, _GROUPS)
        if grouped and any(dotted(part) in words for part in ast.walk(node.value)):
            words |= {dotted(target) for target in node.targets} - {""}
    return words


def _classes_asked_for(node: ast.AST) -> list[ast.expr]:
    """Return the expressions with classes of isinstance, issubclass, `type(x) is` and `case`."""
    if isinstance(node, ast.Call) and dotted(node.func) in {"isinstance", "issubclass"}:
        return node.args[1:2]
    if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
        return node.comparators if dotted(node.left.func) == "type" else []
    return [node.cls] if isinstance(node, ast.MatchClass) else []


RULES = (
    repeated_names,
    long_modules,
    misplaced,
    upward_imports,
    import_cycles,
    imports_by_string,
    private_reads,
    kinds_asked_for,
)


# -- the package ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package():
    return Package(SOURCE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule, package):
    found = rule(package)
    assert not found, "\n".join([f"{len(found)} found:", *sorted(found)])


def test_every_exception_is_needed(package):
    imports = {(one.importer, one.imported) for one in package.imports()}
    assert not EXCEPTIONS.keys() - imports
    by_string = {
        module for module in IMPORT_BY_STRING if "import_module" in _called(package, module)
    }
    assert not IMPORT_BY_STRING.keys() - by_string


def _called(package, module):
    calls = (node for node in ast.walk(package.trees[module]) if isinstance(node, ast.Call))
    return {dotted(call.func) for call in calls}


# -- the rules find what they are for ------------------------------------------------------------

ENSEMBLE = {"ensembles/shared.py": "class Shared: pass\nclass Votes: pass"}
BROKEN = {
    "name": (repeated_names, {"trees/rounds.py": "", "plots/rounds.py": ""}, 1),
    "base": (repeated_names, {"trees/base.py": "", "plots/base.py": ""}, 0),
    "length": (long_modules, {"trees/long.py": "x = 1\n" * 501}, 1),
    "length at the limit": (long_modules, {"trees/long.py": "x = 1\n" * 500}, 0),
    "module at the top": (misplaced, {"helper.py": ""}, 1),
    "folder without a place": (misplaced, {"helpers/__init__.py": ""}, 1),
    "public module": (misplaced, {"losses.py": "", "trees/__init__.py": ""}, 0),
    "up": (upward_imports, {"trees/a.py": "from ..cli import b", "cli/b.py": ""}, 1),
    "up, name of a module": (
        upward_imports,
        {"trees/a.py": "from ..cli.b import c", "cli/b.py": "c = 1"},
        1,
    ),
    "up in a function": (
        upward_imports,
        {"trees/a.py": "def f():\n    import randomboost.cli.b", "cli/b.py": ""},
        1,
    ),
    "up for types": (
        upward_imports,
        {"trees/a.py": "if TYPE_CHECKING:\n    from randomboost.cli.b import c", "cli/b.py": ""},
        1,
    ),
    "aside": (upward_imports, {"report/a.py": "from ..reading import b", "reading/b.py": ""}, 1),
    "to the package itself": (upward_imports, {"trees/a.py": "from .. import _HOMES"}, 1),
    "public names": (upward_imports, {"cli/a.py": "import randomboost"}, 0),
    "public names of upper folders": (
        upward_imports,
        {"__init__.py": "from .cli import a", "cli/a.py": ""},
        1,
    ),
    "version": (upward_imports, {"trees/a.py": "from .. import __version__"}, 0),
    "down": (
        upward_imports,
        {"cli/a.py": "from ..trees import b\nfrom . import c", "trees/b.py": "", "cli/c.py": ""},
        0,
    ),
    "deep folder": (
        upward_imports,
        {"export/onnx/__init__.py": "from ...cli import b", "cli/b.py": ""},
        1,
    ),
    "exception": (
        upward_imports,
        {"estimators/fitted.py": "from ..files import save", "files/__init__.py": ""},
        0,
    ),
    "cycle": (
        import_cycles,
        {
            "cli/a.py": "from . import b",
            "cli/b.py": "def f():\n    from .c import x",
            "cli/c.py": "import randomboost.cli.a",
        },
        1,
    ),
    "cycle through a folder": (
        import_cycles,
        {
            "trees/__init__.py": "from ..cli import a",
            "trees/b.py": "",
            "cli/a.py": "from ..trees.b import c",
        },
        1,
    ),
    "itself": (import_cycles, {"cli/a.py": "from . import a"}, 1),
    "no cycle": (
        import_cycles,
        {"cli/__init__.py": "from .a import x", "cli/a.py": "from .b import y", "cli/b.py": ""},
        0,
    ),
    "string": (imports_by_string, {"cli/a.py": "import_module(name)"}, 1),
    "private": (
        private_reads,
        {"cli/a.py": "model._x, self.estimator._y, getattr(fitted, '_z', 0)"},
        3,
    ),
    "private write": (private_reads, {"cli/a.py": "classifier._x = 1"}, 1),
    "private inside": (private_reads, {"estimators/a.py": "model._x"}, 0),
    "public": (private_reads, {"cli/a.py": "model.x, self._x, model.__class__, table._x"}, 0),
    "kind": (kinds_asked_for, ENSEMBLE | {"cli/a.py": "isinstance(x, Shared)"}, 1),
    "kinds": (
        kinds_asked_for,
        ENSEMBLE | {"cli/a.py": "isinstance(x, int | shared.Votes), issubclass(x, (int, Shared))"},
        2,
    ),
    "kind under another name": (
        kinds_asked_for,
        ENSEMBLE
        | {
            "cli/b.py": "BOTH = (int, Votes)\nisinstance(x, BOTH)",
            "cli/c.py": "from ..ensembles.shared import Votes as V\nisinstance(x, V)",
        },
        2,
    ),
    "kind by type": (kinds_asked_for, ENSEMBLE | {"cli/a.py": "type(x) is Votes"}, 1),
    "kind by match": (
        kinds_asked_for,
        ENSEMBLE | {"cli/a.py": "match x:\n    case Votes():\n        pass"},
        1,
    ),
    "kind inside": (kinds_asked_for, ENSEMBLE | {"ensembles/a.py": "isinstance(x, Votes)"}, 0),
    "other kind": (kinds_asked_for, ENSEMBLE | {"cli/a.py": "isinstance(x, int)\nVotes(x)"}, 0),
}


@pytest.mark.parametrize(("rule", "files", "count"), BROKEN.values(), ids=BROKEN)
def test_a_rule_finds_what_breaks_it(rule, files, count, tmp_path):
    folders = {f"{name.rsplit('/', 1)[0]}/__init__.py": "" for name in files if "/" in name}
    for name, text in ({"__init__.py": ""} | folders | files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = rule(Package(tmp_path))
    assert len(found) == count, found
