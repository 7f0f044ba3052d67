"""What the benchmarks make of their samples."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.results import Bar, result, table, write
from benchmarks.series import Series, percentile

KEYS = ["name", "unit", "p50", "p99", "reference", "ratio", "bar", "ok"]


@pytest.mark.parametrize(
    ("percent", "expected"), [(1, 1.0), (50, 50.0), (99, 99.0), (99.5, 100.0), (100, 100.0)]
)
def test_a_percentile_is_a_sample_that_so_many_do_not_exceed(percent, expected):
    samples = [float(number) for number in range(100, 0, -1)]
    assert percentile(samples, percent) == expected


def test_a_percentile_of_few_samples_is_one_of_them():
    assert percentile([3.0, 1.0], 50) == 1.0
    assert percentile([3.0, 1.0], 99) == 3.0
    assert percentile([7.0], 1) == 7.0


@pytest.mark.parametrize(("samples", "percent"), [([], 50), ([1.0], 0), ([1.0], 101)])
def test_a_percentile_of_nothing_is_refused(samples, percent):
    with pytest.raises(ValueError):
        percentile(samples, percent)


def test_the_p99_of_a_rate_is_what_nearly_all_samples_reach():
    rates = tuple(float(number) for number in range(1, 101))
    series = Series("rate", "Hz", rates, more_is_better=True)
    assert (series.p50, series.p99) == (51.0, 2.0)


@pytest.mark.parametrize(
    ("bar", "ok"),
    [
        (Bar("p50", "<=", 2.0), True),
        (Bar("p99", "<=", 2.0), False),
        (Bar("ratio", ">=", 0.5), True),
        (Bar("ratio", ">=", 0.51), False),
    ],
)
def test_a_bar_is_judged_on_the_quantity_that_it_names(bar, ok):
    series = Series("delay", "ms", (1.0, 2.0, 3.0))
    assert result(series, bar, reference=6.0, ratio=0.5).ok is ok


def test_a_bar_on_a_ratio_needs_one():
    with pytest.raises(ValueError, match="delay"):
        result(Series("delay", "ms", (1.0,)), Bar("ratio", "<=", 2.0))


def test_the_file_is_a_list_of_objects_with_exactly_the_documented_keys(tmp_path):
    series = Series("delay", "ms", (1.0, 2.0, 3.0))
    results = [result(series), result(series, Bar("ratio", "<=", 2.0), reference=1.0, ratio=3.0)]
    write(results, tmp_path / "results.json")
    read = json.loads((tmp_path / "results.json").read_text())
    assert [list(entry) for entry in read] == [KEYS, KEYS]
    assert list(read[0].values()) == ["delay", "ms", 2.0, 3.0, None, None, None, None]
    assert list(read[1].values()) == ["delay", "ms", 2.0, 3.0, 1.0, 3.0, "ratio <= 2", False]


def test_a_missed_bar_stands_out_in_the_table():
    series = Series("delay", "ms", (1.0,))
    text = table([result(series, Bar("p99", "<=", 0.5)), result(series, Bar("p99", "<=", 1.0))])
    missed, reached = text.splitlines()[2:]
    assert missed.endswith("NOT OK")
    assert reached.endswith(" ok")
