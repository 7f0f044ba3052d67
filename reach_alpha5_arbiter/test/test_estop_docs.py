"""What `docs/estop.md` says of codes, parameters and labels is what the code has."""

from __future__ import annotations

from pathlib import Path

import pytest

from reach_alpha5_arbiter.endpoint import CheckInRefusal, EndpointState
from reach_alpha5_arbiter.estop_client import cli
from reach_alpha5_arbiter.parameters import endpoint_parameters

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/estop.md"


@pytest.fixture(scope="module")
def text() -> str:
    return DOCUMENT.read_text()


@pytest.mark.parametrize("refusal", CheckInRefusal, ids=lambda refusal: refusal.code)
def test_each_refusal_of_a_check_in_is_documented(text: str, refusal: CheckInRefusal) -> None:
    assert f"| `{refusal.code}` | {refusal.meaning} |" in text


@pytest.mark.parametrize("state", EndpointState, ids=lambda state: state.name)
def test_each_state_of_an_endpoint_is_documented(text: str, state: EndpointState) -> None:
    assert f"| `{state.name}` |" in text


def test_each_parameter_of_an_endpoint_is_documented_with_its_default(text: str) -> None:
    for parameter in endpoint_parameters("<name>"):
        default = parameter.default
        shown = f"`{default}`" if isinstance(default, str) else f"{default} {parameter.unit}"
        assert f"| `{parameter.name}` | {shown} |" in text


def test_it_is_labelled_wherever_a_user_meets_it(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    for told in (text, capsys.readouterr().out):
        assert "software stop" in told and "not safety-rated" in told.lower()


@pytest.mark.parametrize("name", ["", "2nd", "a/b", "b\u00fccke", "a b"])
def test_a_name_that_cannot_be_part_of_a_topic_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main([name])
    assert error.value.code == 2
    assert "use letters, digits and _" in capsys.readouterr().err
