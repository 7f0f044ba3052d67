"""The services of the arbiter: each asks the core one thing and hands its answer on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from reach_alpha5_arbiter import events
from reach_alpha5_arbiter.snapshot import Snapshot
from reach_alpha5_common.messages import seconds
from reach_alpha5_msgs.msg import EStop
from reach_alpha5_msgs.srv import AcquireLease, CloseStream, OpenStream, ReturnLease


class Services:
    """All of them."""

    def __init__(
        self,
        node: Node,
        handle: Callable[[events.Event], list[events.Output]],
        snapshot: Callable[[], Snapshot],
    ) -> None:
        """Serve on `node`; `handle` takes events, `snapshot` shows what has come of them."""
        self._handle = handle
        self._snapshot = snapshot
        for kind, name, serve in (
            (Trigger, "estop", self._estop),
            (Trigger, "reset", self._reset),
            (AcquireLease, "acquire_lease", self._acquire),
            (ReturnLease, "return_lease", self._return),
            (OpenStream, "open_stream", self._open_stream),
            (CloseStream, "close_stream", self._close_stream),
        ):
            node.create_service(kind, name, serve)

    def _estop(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        self._handle(events.EStopPress(EStop.CUT, "service", "the estop service was called"))
        response.success = True
        response.message = "latched; call `reset` to clear it"
        return response

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> Any:
        reply = self._ask(events.Reset())
        response.success, response.message = reply.success, reply.message
        return response

    def _acquire(self, request: AcquireLease.Request, response: AcquireLease.Response) -> Any:
        event = events.Acquire(request.source, request.client_id, request.take)
        self._answer(event, response)
        state = self._snapshot()
        response.lease_epoch, response.owner = state.lease_epoch, state.owner
        return response

    def _return(self, request: ReturnLease.Request, response: ReturnLease.Response) -> Any:
        event = events.Return(request.source, request.client_id, request.lease_epoch)
        return self._answer(event, response)

    def _open_stream(self, request: OpenStream.Request, response: OpenStream.Response) -> Any:
        event = events.OpenStream(
            request.source, request.client_id, request.kind, seconds(request.idle_timeout)
        )
        self._answer(event, response)
        state = self._snapshot()
        response.stream_id, response.lease_epoch = state.stream.id, state.lease_epoch
        return response

    def _close_stream(self, request: CloseStream.Request, response: CloseStream.Response) -> Any:
        event = events.CloseStream(request.source, request.client_id, request.stream_id)
        return self._answer(event, response)

    def _ask(self, event: events.Event) -> events.Reply:
        return next(out for out in self._handle(event) if isinstance(out, events.Reply))

    def _answer(self, event: events.Event, response: Any) -> Any:
        reply = self._ask(event)
        response.success, response.code, response.message = (
            reply.success,
            reply.code,
            reply.message,
        )
        return response
