"""Small faults that are put into a module one at a time: what mutation testing puts in.

A mutant is the module with one change to its syntax tree. `OPERATORS` is the table of changes;
the document lists it. What only people read is left alone by rule (`EXCLUDED` tells which), since
no test should be tied to it. Where two changes compile to the same code they are one mutant, and
a change that compiles to the code as it was is none.
"""

from __future__ import annotations

import ast
import copy
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

Enums = Mapping[str, Sequence[str]]
"""The members of enumerations, in order, by the name of the class."""

MOST_SHOWN = 100
"""Characters of code that are shown in a description."""

REMOVED = "(removed)"


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a node."""

    node: ast.AST
    """What stands in place of the node."""
    was: str
    becomes: str
    at: ast.AST
    """Whose line is shown."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Names a mutant in a way that outlives edits elsewhere in the file: no line numbers."""

    module: str
    scope: str
    line: str
    mutation: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one fault in it."""

    key: Key
    operator: str
    source: str
    lines: range
    """Of the statement that is changed, without the body of a compound one: a test that executes
    none of them cannot tell the mutant from the original."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to put a fault in."""

    name: str
    text: str

    def changes(self, node: ast.AST, enums: Enums) -> Iterator[Change]:
        """Yield what this operator makes of a node."""
        return _MAKERS[self.name](node, enums)


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def _to(node: ast.AST, new: ast.AST) -> Change:
    return Change(new, _text(node), _text(new), node)


def _with(node: Any, **fields: Any) -> Any:
    """Return a shallow copy of a node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


# -- what each operator makes of a node

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}

OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def _comparison(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                ops = [*node.ops[:index], other(), *node.ops[index + 1 :]]
                yield _to(node, _with(node, ops=ops))


def _boolean(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _to(node, _with(node, op=other))
        for index, value in enumerate(node.values):
            left = [*node.values[:index], *node.values[index + 1 :]]
            new = left[0] if len(left) == 1 else _with(node, values=left)
            word = "and" if isinstance(node.op, ast.And) else "or"
            yield Change(new, f"{word} {_text(value)}", REMOVED, value)


def _negation(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _to(node, node.operand)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        # The others have opposites of their own among the operators.
        if not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            test = ast.UnaryOp(ast.Not(), node.test)
            yield Change(_with(node, test=test), _text(node.test), _text(test), node.test)
    elif isinstance(node, ast.comprehension):
        for index, test in enumerate(node.ifs):
            ifs = [*node.ifs[:index], *node.ifs[index + 1 :]]
            yield Change(_with(node, ifs=ifs), f"if {_text(test)}", REMOVED, test)


def _arithmetic(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        yield _to(node, _with(node, op=ARITHMETIC[type(node.op)]()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield _to(node, node.operand)


def _constant(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield _to(node, ast.Constant(not value))
        elif isinstance(value, (int, float)):
            yield _to(node, ast.Constant(value + 1))
        elif isinstance(value, str):
            yield _to(node, ast.Constant(value + "~"))
        elif isinstance(value, bytes):
            yield _to(node, ast.Constant(value + b"~"))


def _function(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Name) and node.id in OPPOSITES:
        yield _to(node, _with(node, id=OPPOSITES[node.id]))


def _member(node: ast.AST, enums: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        members = enums.get(node.value.id, ())
        if node.attr in members and len(members) > 1:
            other = members[(members.index(node.attr) + 1) % len(members)]
            yield _to(node, _with(node, attr=other))


def _returned(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None:
        value = node.value
        # `None` for `False` makes no difference to who asks for the truth of it.
        said = value.value if isinstance(value, ast.Constant) else value
        if not (said is None or isinstance(said, bool)):
            yield _to(node, _with(node, value=ast.Constant(None)))


def _statement(node: ast.AST, _: Enums) -> Iterator[Change]:
    removable = (
        isinstance(node, (ast.Raise, ast.Delete, ast.Break, ast.Continue, ast.AugAssign))
        or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Return) and node.value is None)
        or (
            # Without a name that is bound there, nothing would work; it is no fault to be found.
            isinstance(node, ast.Assign)
            and all(isinstance(inner, (ast.Attribute, ast.Subscript)) for inner in _bound(node))
        )
    )
    if removable:
        yield Change(ast.Pass(), _text(node), REMOVED, node)


def _bound(node: ast.Assign) -> Iterator[ast.AST]:
    for target in node.targets:
        yield from target.elts if isinstance(target, ast.Tuple) else (target,)


def _argument(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        if node.args and not isinstance(node.args[-1], ast.Starred):
            gone = node.args[-1]
            shown = f"{_text(node.func)}(… {_text(gone)})"
            yield Change(_with(node, args=node.args[:-1]), shown, REMOVED, gone)
        for index, keyword in enumerate(node.keywords):
            if keyword.arg not in (None, CHECK):
                keywords = [*node.keywords[:index], *node.keywords[index + 1 :]]
                shown = f"{_text(node.func)}(… {_text(keyword)})"
                yield Change(_with(node, keywords=keywords), shown, REMOVED, keyword)


def _entry(node: ast.AST, _: Enums) -> Iterator[Change]:
    if isinstance(node, ast.Dict):
        for index, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            new = _with(
                node,
                keys=[*node.keys[:index], *node.keys[index + 1 :]],
                values=[*node.values[:index], *node.values[index + 1 :]],
            )
            shown = f"**{_text(value)}" if key is None else f"{_text(key)}: {_text(value)}"
            yield Change(new, shown, REMOVED, key or value)
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)) and len(node.elts) > 1:
        for index, entry in enumerate(node.elts):
            elts = [*node.elts[:index], *node.elts[index + 1 :]]
            yield Change(_with(node, elts=elts), f"{_text(entry)},", REMOVED, entry)


OPERATORS = (
    Operator("comparison", "`<` becomes `<=` and `>=`; `==` `!=`; `is` `is not`; `in` `not in`"),
    Operator("boolean", "`and` becomes `or` and the other way; each operand is left out"),
    Operator("negation", "a condition is negated, a `not` or a comprehension's `if` left out"),
    Operator("arithmetic", "`+` becomes `-`, `*` becomes `/`, and so on; a minus is left out"),
    Operator("constant", "a number is one more, a truth value the other one, a text one longer"),
    Operator("function", "`min` becomes `max`, `any` becomes `all`, and the other way"),
    Operator("member", "a member of an enumeration becomes the next one"),
    Operator("returned", "`None` is returned instead"),
    Operator("statement", "a statement is left out: call, assignment, `raise`, `return`, `yield`"),
    Operator("argument", "the last positional argument, or one keyword, is left out of a call"),
    Operator("entry", "an entry is left out of a dictionary, tuple, list or set"),
)

_MAKERS = {
    "comparison": _comparison,
    "boolean": _boolean,
    "negation": _negation,
    "arithmetic": _arithmetic,
    "constant": _constant,
    "function": _function,
    "member": _member,
    "returned": _returned,
    "statement": _statement,
    "argument": _argument,
    "entry": _entry,
}

# -- what is left alone

EXCLUDED = (
    ("texts for people", "docstrings, f-strings, strings with a space, what is raised with"),
    ("types", "annotations, base classes, aliases, `TypeVar`, `if TYPE_CHECKING`"),
    ("decorators", "that values are frozen and slotted, that a method reads as a property"),
    ("imports", "without one nothing works"),
    ("checks of sizes", "`strict=True` of a `zip`: what goes in is as long by its making"),
    ("names", "the parts of a pattern and of an assignment's left side"),
)

TYPE_MAKERS = {"TypeVar", "NewType", "ParamSpec"}

CHECK = "strict"
"""A keyword that only raises where the program is wrong anyway."""


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    )


def _is_type(node: ast.AST) -> bool:
    """Tell a union of types, `A | B`, from arithmetic: its names begin with a capital."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_type(node.left) or _is_type(node.right)
    if isinstance(node, ast.Subscript):
        return _is_type(node.value)
    name = node.id if isinstance(node, ast.Name) else ""
    return name[:1].isupper() and not name.isupper()


def _is_excluded(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == CHECK
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in TYPE_MAKERS
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return isinstance(node.value, (ast.BinOp, ast.Subscript)) and _is_type(node.value)
    return False


PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.FunctionDef: ("args", "body"),
    ast.AsyncFunctionDef: ("args", "body"),
    ast.ClassDef: ("body",),
    ast.arguments: ("defaults", "kw_defaults"),
    ast.AnnAssign: ("value",),
    ast.Assign: ("value",),
    ast.AugAssign: ("value",),
    ast.For: ("iter", "body", "orelse"),
    ast.comprehension: ("iter", "ifs"),
    ast.match_case: ("guard", "body"),
    ast.Raise: (),
}
"""What is looked at of a node; of one that is not listed, all."""

# -- a module and its mutants


@dataclass(frozen=True, slots=True)
class _Place:
    """A node where it stands: writing to the place changes the tree."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    scope: str
    lines: range

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def _places(node: ast.AST, scope: str, lines: range) -> Iterator[_Place]:
    for field in PARTS.get(type(node), node._fields):
        value = getattr(node, field, None)
        for index, child in enumerate(value if isinstance(value, list) else (value,)):
            if not isinstance(child, ast.AST) or _is_excluded(child):
                continue
            at = index if isinstance(value, list) else None
            inner, span = _scope_of(child, scope), _lines_of(child, lines)
            yield _Place(node, field, at, child, inner, span)
            yield from _places(child, inner, span)


def _scope_of(node: ast.AST, scope: str) -> str:
    name = ""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        name = node.name
    elif not scope and isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = ast.unparse(target)
    return ".".join(filter(None, (scope, name)))


def _lines_of(node: ast.AST, outer: range) -> range:
    if not isinstance(node, ast.stmt):
        return outer
    body = getattr(node, "body", None)
    end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
    return range(node.lineno, max(end, node.lineno + 1))


def form_of(code: CodeType) -> Any:
    """Return what a piece of code does, without where it stands in the file."""
    constants = tuple(
        form_of(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _lines_without_comments(source: str) -> list[str]:
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return [line.strip() for line in lines]


def mutants_of(source: str, module: str, enums: Enums) -> list[Mutant]:
    """Return all mutants of a module, in the order of its text.

    Args:
        source: the module's text.
        module: how the keys name it.
        enums: enumerations whose members may be exchanged.
    """
    tree = ast.parse(source)
    text = _lines_without_comments(source)
    forms = {form_of(compile(ast.unparse(tree), module, "exec"))}
    seen: Counter[Key] = Counter()
    mutants = []
    for place in list(_places(tree, "", range(1, 2))):
        for operator in OPERATORS:
            for change in operator.changes(place.node, enums):
                place.put(change.node)
                mutated = ast.unparse(tree)
                place.put(place.node)
                form = form_of(compile(mutated, module, "exec"))
                if form in forms:
                    continue
                forms.add(form)
                key = Key(
                    module,
                    place.scope,
                    text[getattr(change.at, "lineno", place.lines.start) - 1],
                    f"{change.was} → {change.becomes}",
                )
                seen[key] += 1
                if seen[key] > 1:
                    key = Key(key.module, key.scope, key.line, f"{key.mutation} #{seen[key]}")
                mutants.append(Mutant(key, operator.name, mutated, place.lines))
    return mutants


def enums_of(sources: Sequence[str]) -> dict[str, list[str]]:
    """Return the members of the enumerations that are defined in some modules."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef) and any("Enum" in _text(b) for b in node.bases):
                found[node.name] = [
                    target.id
                    for item in node.body
                    if isinstance(item, ast.Assign)
                    for target in item.targets
                    if isinstance(target, ast.Name)
                ]
    return found
