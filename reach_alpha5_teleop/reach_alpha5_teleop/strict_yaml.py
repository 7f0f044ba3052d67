"""YAML that says what it means: plain values only, and no key twice."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml


class _UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key that is given twice: stock YAML would silently obey the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice; keep one", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse(text: str) -> Any:
    """Return the plain values in `text`.

    Raises:
        ValueError: it is no YAML, or a key comes twice.
    """
    try:
        # The loader is SafeLoader with one more check: it builds plain values only.
        return yaml.load(text, Loader=_UniqueKeyLoader)
    except (yaml.YAMLError, ArithmeticError, AttributeError, LookupError, RecursionError,
            TypeError, ValueError) as error:  # fmt: skip
        # PyYAML lets what its own parsing of a tagged scalar raises come through: `!!bool maybe`.
        raise ValueError(f"not valid YAML: {error}") from error


def short(value: Any) -> str:
    """Show a value of a file in a message, cut to what fits a line."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python shows
        return "a number far too long"
    return text if len(text) <= 60 else text[:57] + "..."
