"""Policies as SROS 2 reads them: XML, version 0.2.0 of its policy schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree import ElementTree

from alpha5_security.policy import KINDS, Enclave, Profile, Right, Verb

VERSION = "0.2.0"
ALLOW = "ALLOW"


class PolicyFileError(ValueError):
    """A text that is no policy, or has what this does not know; the message says what."""


def written(policy: Iterable[Enclave], head: str) -> str:
    """Return the text of the file; `head` is a comment at its beginning."""
    root = ElementTree.Element("policy", version=VERSION)
    all_enclaves = ElementTree.SubElement(root, "enclaves")
    for enclave in policy:
        element = ElementTree.SubElement(all_enclaves, "enclave", path=enclave.path)
        # Inside, since `ros2 security` takes whatever is beside an enclave for one.
        element.append(ElementTree.Comment(f" {enclave.purpose} "))
        profiles = ElementTree.SubElement(element, "profiles")
        for profile in enclave.profiles:
            _write_profile(ElementTree.SubElement(profiles, "profile"), profile)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {head} -->\n{text}\n'


def _write_profile(element: ElementTree.Element, profile: Profile) -> None:
    element.set("ns", profile.namespace)
    element.set("node", profile.node)
    order = list(Verb)
    ordered = sorted(profile.rights, key=lambda right: (order.index(right.verb), right.name))
    for verb, group in groupby(ordered, key=lambda right: right.verb):
        kind = KINDS[verb]
        names = ElementTree.SubElement(element, f"{kind}s", {verb.value: ALLOW})
        for right in group:
            ElementTree.SubElement(names, kind).text = right.name


def read(text: str) -> tuple[Enclave, ...]:
    """Return the policy of a file.

    Raises:
        PolicyFileError: it is not XML, not a policy of this version, or has an element, an
            attribute or a qualifier other than those of `written`: what is not understood is
            not skipped.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise PolicyFileError(f"not XML: {error}") from error
    if root.tag != "policy" or root.get("version") != VERSION:
        raise PolicyFileError(f"not a policy of version {VERSION}")
    (all_enclaves,) = _children(root, "enclaves")
    return tuple(_read_enclave(element) for element in _children(all_enclaves, "enclave"))


def _children(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    children = list(element)
    if not children:
        raise PolicyFileError(f"<{element.tag}> is empty")
    for child in children:
        if child.tag != tag:
            raise PolicyFileError(f"<{child.tag}> in <{element.tag}>, where <{tag}> should be")
    return children


def _attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise PolicyFileError(f"<{element.tag}> has no attribute {name}")
    return value


def _read_enclave(element: ElementTree.Element) -> Enclave:
    (profiles,) = _children(element, "profiles")
    return Enclave(
        _attribute(element, "path"),
        "",
        tuple(
            Profile(
                _attribute(profile, "ns"),
                _attribute(profile, "node"),
                frozenset(_read_rights(profile)),
            )
            for profile in _children(profiles, "profile")
        ),
    )


def _read_rights(profile: ElementTree.Element) -> Iterator[Right]:
    for names in profile:
        for attribute, qualifier in names.attrib.items():
            try:
                verb = Verb(attribute)
            except ValueError:
                raise PolicyFileError(f"unknown attribute {attribute}") from None
            if names.tag != f"{KINDS[verb]}s" or qualifier != ALLOW:
                raise PolicyFileError(f'<{names.tag} {attribute}="{qualifier}"> is not known')
            for element in _children(names, KINDS[verb]):
                yield Right(verb, (element.text or "").strip())
