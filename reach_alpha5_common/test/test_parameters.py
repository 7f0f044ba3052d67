import math

import pytest

from reach_alpha5_common.parameters import Parameter, ParameterError, check, markdown

TABLE = (
    Parameter("speed", 0.5, "Largest speed.", "m/s", range=(0.0, 1.0)),
    Parameter("mode", "slow", "How to go.", choices=("slow", "fast")),
    Parameter("name", "arm", "Any name."),
    Parameter("pose", [0.1, 0.2], "Where to go.", "rad", range=(0.0, 3.5)),
)
GOOD = {"speed": 1.0, "mode": "fast", "name": "", "pose": [0.0, 3.5]}


def test_the_defaults_and_the_ends_of_the_range_are_in_order() -> None:
    check(TABLE, {entry.name: entry.default for entry in TABLE})
    check(TABLE, GOOD)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("speed", 1.0001, "[0, 1] m/s"),
        ("speed", -0.1, "[0, 1] m/s"),
        ("speed", math.nan, "speed is nan"),
        ("speed", math.inf, "speed is inf"),
        ("mode", "", "slow, fast"),
        ("mode", "Slow", "slow, fast"),
        ("pose", [0.1, 3.6], "3.6"),
        ("pose", [math.nan, 0.1], "nan"),
    ],
)
def test_a_value_out_of_range_is_named_with_what_is_allowed(
    name: str, value: object, said: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        check(TABLE, {**GOOD, name: value})
    assert name in str(caught.value)
    assert said in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        check(TABLE, {**GOOD, "speed": 2.0, "mode": "other"})
    assert len(str(caught.value).splitlines()) == 2


def test_the_table_for_the_docs_has_a_line_for_each_parameter() -> None:
    lines = markdown(TABLE).splitlines()
    assert len(lines) == 2 + len(TABLE)
    assert {line.count("|") for line in lines} == {6}
    for entry, line in zip(TABLE, lines[2:], strict=True):
        assert f"`{entry.name}`" in line
        assert entry.description in line
    assert "0 to 1" in lines[2]
    assert "`slow`, `fast`" in lines[3]
