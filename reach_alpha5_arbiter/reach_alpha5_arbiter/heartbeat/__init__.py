"""Heartbeats on behalf of a program that has none: exactly while that program runs."""
