"""The models of total order whose actions are covered by schedules: those of environment A, whose runs repeat the
behaviour arrival by arrival."""

from __future__ import annotations

from models.totalorder.schedule_of_trace import schedule_of_trace

MODELS = ("environment_a", "second_topology", "clock_ahead")

__all__ = ["MODELS", "schedule_of_trace"]
