"""The SROS 2 policy of the graph: made from a table, and compared with a graph that runs."""
