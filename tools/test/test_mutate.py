"""Mutation testing finds what no test looks at: here it is known what that is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import mutate_doc
import pytest
from mutate_doc import Score, survivors_in, written
from mutate_operators import OPERATORS, Key, enums_of, mutants_of
from mutate_runner import Survey
from mutate_targets import TARGETS

ROOT = Path(__file__).parents[2]
ENUMS = {"Light": ["RED", "GREEN"]}


def mutations(source, enums=ENUMS):
    """Return the operator and the description of each mutant."""
    return [(m.operator, m.key.mutation) for m in mutants_of(source, "m", enums)]


@pytest.mark.parametrize(
    ("source", "operator", "found"),
    [
        ("a < b", "comparison", ["a < b → a <= b", "a < b → a >= b"]),
        ("x = a is None", "comparison", ["a is None → a is not None"]),
        ("x = a and b", "boolean", ["a and b → a or b", "and a → (removed)", "and b → (removed)"]),
        ("x = not a", "negation", ["not a → a"]),
        ("if a:\n    b()", "negation", ["a → not a"]),
        ("x = [b for b in c if b]", "negation", ["if b → (removed)"]),
        ("x = a - b", "arithmetic", ["a - b → a + b"]),
        ("x = -a", "arithmetic", ["-a → a"]),
        ("a += b", "arithmetic", ["a += b → a -= b"]),
        ("x = 1", "constant", ["1 → 2"]),
        ("x = False", "constant", ["False → True"]),
        ("x = 'code'", "constant", ["'code' → 'code~'"]),
        ("x = max(a, b)", "function", ["max → min"]),
        ("x = Light.RED", "member", ["Light.RED → Light.GREEN"]),
        ("x = Light.GREEN", "member", ["Light.GREEN → Light.RED"]),
        ("def f():\n    return a", "returned", ["return a → return None"]),
        ("a.b = c", "statement", ["a.b = c → (removed)"]),
        ("def f():\n    yield a", "statement", ["yield a → (removed)"]),
        ("raise KeyError(a)", "statement", ["raise KeyError(a) → (removed)"]),
        ("x = f(a, b)", "argument", ["f(… b) → (removed)"]),
        ("x = f(k=a)", "argument", ["f(… k=a) → (removed)"]),
        ("x = {a: b}", "entry", ["a: b → (removed)"]),
        ("x = {**a}", "entry", ["**a → (removed)"]),
        ("x = a, b", "entry", ["a, → (removed)", "b, → (removed)"]),
    ],
)
def test_each_operator_makes_what_it_says(source, operator, found):
    assert [mutation for name, mutation in mutations(source) if name == operator] == found


def test_every_operator_is_shown_above():
    (mark,) = test_each_operator_makes_what_it_says.pytestmark
    assert {operator for _, operator, _ in mark.args[1]} == {each.name for each in OPERATORS}


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "x = 'a text for people'",
        "x = f'{a}'",
        "x: int | None",
        "def f(a: int = b) -> tuple[int, int]: ...",
        "T = TypeVar('T', bound=a)",
        "Number = Integer | Real",
        "import a.b as c",
        "if TYPE_CHECKING:\n    f(a)",
        "class A(Base, metaclass=m): ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "x = Light.RED.value.upper",
        "x = Other.RED",
        "x = zip(*a, strict=True)",
    ],
)
def test_what_only_people_read_is_left_alone(source):
    assert mutations(source, {"Light": ["RED"]}) == []


def test_what_compiles_to_the_same_is_no_mutant_and_is_counted_once():
    assert mutations("for a in b:\n    continue") == []
    assert mutations("x = a and a") == [
        ("boolean", "a and a → a or a"),
        ("boolean", "and a → (removed)"),
    ]


def test_a_key_has_no_line_number_and_no_comment_and_tells_twins_apart():
    source = "class A:\n    def f(self):\n        g(1)  # why\n        g(1)\n"
    first, *_, twin = (m.key for m in mutants_of(source, "m", {}) if m.operator == "constant")
    assert first == Key("m", "A.f", "g(1)", "1 → 2")
    assert twin == Key("m", "A.f", "g(1)", "1 → 2 #2")
    later = mutants_of("import b\n\n\n" + source, "m", {})
    assert first in [mutant.key for mutant in later]


def test_a_name_at_the_top_of_a_module_is_its_scope():
    (key,) = (mutant.key for mutant in mutants_of("TABLE = {\n    1: None,\n}\n", "m", {})[:1])
    assert (key.scope, key.line) == ("TABLE", "1: None,")


def test_members_of_enumerations_are_found():
    source = "class Light(enum.IntEnum):\n    RED = 1\n    GREEN = 2\n\nclass B:\n    C = 1\n"
    assert enums_of([source]) == ENUMS


def test_tests_are_chosen_by_the_lines_they_execute_quickest_first():
    seconds = {"slow": 2.0, "quick": 0.1, "other": 0.01}
    mutant = mutants_of("def f():\n    g(\n        1)\n", "m", {})[0]

    def chosen(hits):
        return Survey(seconds, {"m": hits}, []).tests_for(mutant)

    assert chosen({2: ["slow"], 3: ["quick", "slow"], 9: ["other"]}) == ["quick", "slow"]
    assert chosen({1: [], 9: ["other"]}) == []
    assert chosen({3: []}) == ["other", "quick", "slow"]


def test_the_document_keeps_reasons_and_other_modules():
    empty = mutate_doc.parts([], [], {})
    text = "".join(
        mutate_doc.BEGIN.format(tool=mutate_doc.TOOL, name=name) + mutate_doc.END.format(name=name)
        for name in empty
    )
    here, there = Key("a.py", "f", "x = y | z", "y | z → y & z"), Key("b.py", "", "x", "1 → 2")
    text = written(text, {"a.py": Score(4, 3, 1.5), "b.py": Score(2, 1, 1.0)}, [here, there])
    assert survivors_in(text) == {here: "", there: ""}
    text = text.replace("z` |  |", "z` | It is the same. |")
    assert survivors_in(text)[here] == "It is the same."
    again = written(text, {"b.py": Score(2, 2, 1.0)}, [])
    assert survivors_in(again) == {here: "It is the same."}
    assert "| `a.py` | 4 | 3 | 75.0% | 2 |" in again
    assert "| all | 6 | 5 | 83.3% | 3 |" in again
    assert written(text, {"a.py": Score(4, 3, 1.5)}, [here]) == text


def test_targets_are_there():
    for target in TARGETS:
        for path in (*target.modules, *target.tests):
            assert (ROOT / path).is_file()


CODE = """
import time

LIMIT = 3

def below(number):
    return number < LIMIT

def untested():
    return 1

def wait(turns):
    while turns:
        turns -= 1

class Stack:
    depth = 0

    def push(self):
        self.depth += 1
"""

TESTS = """
import os

import pytest
from reach_alpha5_x.code import LIMIT, Stack, below, wait

@pytest.fixture(scope="module")
def stack():
    made = Stack()
    made.push()
    return made

def test_first(stack):
    assert os.environ["SET"] == "1"

def test_below():
    assert below(LIMIT - 1) and not below(LIMIT + 1)

def test_wait():
    wait(2)

def test_second(stack):
    assert stack.depth == 1
"""

SCRIPT = """
import json, multiprocessing, sys
from pathlib import Path
import mutate, mutate_runner
from mutate_targets import Target

copy = Path(sys.argv[1])
module = "reach_alpha5_x/reach_alpha5_x/code.py"
target = Target((module,), ("reach_alpha5_x/test/test_code.py",), environment={"SET": "1"})
mutants = mutate.mutants_of((copy / module).read_text(), module, {})
endless = [mutant for mutant in mutants if "turns -= 1" in mutant.key.line]
judged = []
mutate.judge_all(copy, target, [m for m in mutants if m not in endless], 1, judged)
mutate_runner.PATIENCE = 1.0
mutate.judge_all(copy, target, endless, 1, judged)
Path(sys.argv[2]).write_text(
    json.dumps([(m.key.line, m.key.mutation, o.killed, o.by) for m, o in judged])
)
"""


def test_mutants_are_killed_or_survive_as_the_tests_have_it(tmp_path):
    copy, answer = tmp_path / "copy", tmp_path / "answer"
    for path, text in {
        "reach_alpha5_x/reach_alpha5_x/__init__.py": "",
        "reach_alpha5_x/reach_alpha5_x/code.py": CODE,
        "reach_alpha5_x/test/test_code.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }.items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text)
    subprocess.run(
        [sys.executable, "-c", SCRIPT, copy, answer],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), *sys.path])},
        check=True,
    )
    judged = [(tuple(key), killed, by) for *key, killed, by in json.loads(answer.read_text())]
    found = {key: by for key, _, by in judged}
    below, tests = "return number < LIMIT", "reach_alpha5_x/test/test_code.py::"
    assert found[below, "number < LIMIT → number >= LIMIT"] == f"{tests}test_below"
    assert found[below, "number < LIMIT → number <= LIMIT"] == "nothing"
    assert found["LIMIT = 3", "3 → 4"] == "nothing"
    assert found["return 1", "1 → 2"] == "no test gets there"
    assert found["turns -= 1", "turns -= 1 → (removed)"] == "time-out"
    assert found["self.depth += 1", "1 → 2"] == f"{tests}test_second"
    survived = {by for _, killed, by in judged if not killed}
    assert survived == {"nothing", "no test gets there"}
    assert (copy / "reach_alpha5_x/reach_alpha5_x/code.py").read_text() == CODE
