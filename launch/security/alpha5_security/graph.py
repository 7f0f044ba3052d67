"""The ROS graph as it runs, read with rclpy."""

from __future__ import annotations

from contextlib import suppress

from rclpy.node import Node, NodeNameNonExistentError

from alpha5_security.comparison import RunningNode
from alpha5_security.policy import Right, Verb

QUESTIONS = {
    Verb.PUBLISH: Node.get_publisher_names_and_types_by_node,
    Verb.SUBSCRIBE: Node.get_subscriber_names_and_types_by_node,
    Verb.REPLY: Node.get_service_names_and_types_by_node,
    Verb.REQUEST: Node.get_client_names_and_types_by_node,
}


def read_graph(node: Node) -> list[RunningNode]:
    """Return what is known at this moment of all other nodes in the domain of `node`.

    Discovery takes its time, and nothing says that it is over: see `await_agreement`.
    """
    own = (node.get_name(), node.get_namespace())
    graph = []
    for name, namespace, enclave in sorted(node.get_node_names_and_namespaces_with_enclaves()):
        if (name, namespace) == own:
            continue
        with suppress(NodeNameNonExistentError):  # it has just left
            uses = frozenset(
                Right(verb, topic)
                for verb, ask in QUESTIONS.items()
                for topic, _ in ask(node, name, namespace)
            )
            graph.append(RunningNode(namespace, name, enclave, uses))
    return graph
