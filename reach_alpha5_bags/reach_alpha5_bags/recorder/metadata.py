"""The file metadata.yaml of a bag, in version 9 of its format (Jazzy and newer)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from reach_alpha5_bags.recorder.qos import Offer

VERSION = 9


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """What a bag says of a topic."""

    name: str
    type: str
    hash: str
    """Of the type's definition, as ROS writes it: RIHS01_..."""
    offers: tuple[Offer, ...]

    def qos(self) -> str:
        """Return what was offered, as text."""
        return _dump([offer.plain() for offer in self.offers]) if self.offers else ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a bag says of one of its files."""

    name: str
    begin: int
    """Arrival of the first message [ns since the epoch]."""
    end: int
    """Of the last one."""
    counts: Mapping[str, int]
    """Messages by topic."""

    @property
    def count(self) -> int:
        """Messages."""
        return sum(self.counts.values())


def information(
    topics: Iterable[TopicFacts], files: Iterable[FileFacts], distribution: str
) -> dict[str, Any]:
    """Return what a bag says of itself."""
    files = [file for file in files if file.count]
    begin = min((file.begin for file in files), default=0)
    end = max((file.end for file in files), default=0)
    return {
        "version": VERSION,
        "storage_identifier": "mcap",
        "duration": {"nanoseconds": end - begin},
        "starting_time": {"nanoseconds_since_epoch": begin},
        "message_count": sum(file.count for file in files),
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": topic.name,
                    "type": topic.type,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": [offer.plain() for offer in topic.offers],
                    "type_description_hash": topic.hash,
                },
                "message_count": sum(file.counts.get(topic.name, 0) for file in files),
            }
            for topic in topics
        ],
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file.name for file in files],
        "files": [
            {
                "path": file.name,
                "starting_time": {"nanoseconds_since_epoch": file.begin},
                "duration": {"nanoseconds": file.end - file.begin},
                "message_count": file.count,
            }
            for file in files
        ],
        "custom_data": None,
        "ros_distro": distribution,
    }


def inside(told: Mapping[str, Any]) -> str:
    """Return the text that each file carries inside."""
    return _dump(told)


def beside(told: Mapping[str, Any]) -> str:
    """Return the text of the file metadata.yaml."""
    return _dump({"rosbag2_bagfile_information": told})


def _dump(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, width=10_000))
