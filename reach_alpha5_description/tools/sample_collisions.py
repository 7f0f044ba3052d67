#!/usr/bin/env python3
"""Find out which links of the arm can touch, and judge the SRDF by it.

Postures are drawn evenly from the joint limits, and every corner of the limits is added. In each
one coal tests every pair of links with collision shapes. A pair is

    always     in contact in every posture,
    sometimes  in contact in some postures,
    never      in contact in none; the smallest distance met is printed.

A pair may be disabled in the SRDF when it is adjacent (one joint apart, fixed joints not counted),
when it never came nearer than CLEARANCE, or when it is one of the EXCEPTIONS below. Exit code 1
when the SRDF disables any other pair, 0 otherwise.
"""

import argparse
import itertools
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import xacro

PACKAGE = Path(__file__).resolve().parents[1]
URDF = PACKAGE / "urdf" / "drone.urdf.xacro"
SRDF = PACKAGE / "srdf" / "drone.srdf.xacro"

Pair = frozenset[str]

# A sampled "never" is believed only with this much room [m]: samples miss the very worst posture.
CLEARANCE = 0.010

EXCEPTIONS: frozenset[Pair] = frozenset(
    {
        # Meant to touch: the fingers close on each other, and the push rod drives both of them.
        frozenset({"finger_left", "finger_right"}),
        frozenset({"finger_left", "link_a"}),
        frozenset({"finger_right", "link_a"}),
        # Round housings whose distance depends on axis_c alone: the corners have its minimum.
        frozenset({"link_b", "link_d"}),
    }
)


@dataclass(frozen=True, slots=True)
class Contact:
    """What the samples say of one pair of links.

    Attributes:
        rate: share of the postures in contact, 0..1.
        clearance: smallest distance met [m]; 0 when there was contact.
        adjacent: one joint apart.
    """

    rate: float
    clearance: float
    adjacent: bool

    @property
    def kind(self) -> str:
        """One of always, sometimes, never."""
        return {0.0: "never", 1.0: "always"}.get(self.rate, "sometimes")


def postures(model: pin.Model, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield every corner of the joint limits, then `samples` even draws; each (5,) rad or m."""
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    for corner in itertools.product(*zip(lower, upper, strict=True)):
        yield np.array(corner)
    draws = np.random.default_rng(seed)
    for _ in range(samples):
        yield draws.uniform(lower, upper)


def sample_contacts(xml: str, samples: int, seed: int) -> dict[Pair, Contact]:
    """Test all pairs of links of a URDF.

    Args:
        xml: the URDF; fingers follow the push rod by their mimic joints.
        samples: random postures beside the corners.
        seed: of the random postures.

    Returns:
        One entry for each pair of links that both have collision shapes.
    """
    model = pin.buildModelFromXML(xml, mimic=True)
    shapes = pin.buildGeomFromUrdfString(model, xml, pin.GeometryType.COLLISION)
    links = [model.frames[shape.parentFrame].name for shape in shapes.geometryObjects]
    joints = {links[i]: shape.parentJoint for i, shape in enumerate(shapes.geometryObjects)}
    for i, j in itertools.combinations(range(len(links)), 2):
        if links[i] != links[j]:
            shapes.addCollisionPair(pin.CollisionPair(i, j))
    data, shape_data = model.createData(), shapes.createData()
    pair_of = [frozenset((links[p.first], links[p.second])) for p in shapes.collisionPairs]
    touches = dict.fromkeys(pair_of, 0)
    clearance = dict.fromkeys(pair_of, np.inf)

    tested = list(postures(model, samples, seed))
    for q in tested:
        pin.updateGeometryPlacements(model, data, shapes, shape_data, q)
        pin.computeDistances(shapes, shape_data)
        touching = set()
        for pair, result in zip(pair_of, shape_data.distanceResults, strict=True):
            clearance[pair] = min(clearance[pair], max(result.min_distance, 0.0))
            if result.min_distance <= 0.0:
                touching.add(pair)
        for pair in touching:
            touches[pair] += 1

    def adjacent(pair: Pair) -> bool:
        one, two = (joints[link] for link in pair)
        return one == two or model.parents[one] == two or model.parents[two] == one

    return {
        pair: Contact(touches[pair] / len(tested), float(clearance[pair]), adjacent(pair))
        for pair in touches
    }


def disabled_pairs(srdf: str) -> frozenset[Pair]:
    """Pairs of links that an SRDF takes out of the self-collision check."""
    return frozenset(
        frozenset((entry.attrib["link1"], entry.attrib["link2"]))
        for entry in ET.fromstring(srdf).iter("disable_collisions")
    )


def wrongly_disabled(contacts: dict[Pair, Contact], disabled: frozenset[Pair]) -> list[Pair]:
    """Disabled pairs that the samples do not justify."""

    def justified(pair: Pair) -> bool:
        contact = contacts.get(pair)
        if contact is None:
            return False
        return contact.adjacent or contact.clearance >= CLEARANCE or pair in EXCEPTIONS

    return [pair for pair in disabled if not justified(pair)]


def main() -> int:
    """Print the table of pairs; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=20_000, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    options = parser.parse_args()

    contacts = sample_contacts(
        xacro.process_file(str(URDF)).toxml(), options.samples, options.seed
    )
    disabled = disabled_pairs(xacro.process_file(str(SRDF)).toxml())
    print(f"coal {coal.__version__}, {options.samples} samples, seed {options.seed}")
    print(f"{'pair':30}{'contact':>10}{'rate':>9}{'min. mm':>9}  {'adjacent':9} SRDF")
    for pair, contact in sorted(contacts.items(), key=lambda item: sorted(item[0])):
        print(
            f"{' '.join(sorted(pair)):30}{contact.kind:>10}{contact.rate:9.4f}"
            f"{contact.clearance * 1000:9.1f}  {'yes' if contact.adjacent else 'no':9} "
            f"{'disabled' if pair in disabled else 'checked'}"
        )
    wrong = wrongly_disabled(contacts, disabled)
    for pair in wrong:
        print(f"error: the SRDF disables {sorted(pair)}; the samples do not support that")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
