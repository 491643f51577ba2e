"""A visitor of a running server without a browser: streamlit's own messages over its websocket.

Like a browser it reports the values of all controls that it was sent with every change, and so
makes the server do all that a browser makes it do.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE = 120.0  # seconds until a page that is not drawn counts as lost
IS_FINISHED = ForwardMsg.FINISHED_SUCCESSFULLY
HEADLINE = "# "


def _number(proto) -> dict[str, Any]:
    return {"double_value": proto.value if proto.set_value else proto.default}


def _choice(proto) -> dict[str, Any]:
    return {
        "string_value": proto.raw_value if proto.set_value else proto.options[proto.default or 0]
    }


def _choices(proto) -> dict[str, Any]:
    chosen = [proto.options[number].content for number in proto.default]
    values = list(proto.raw_values) if proto.set_value else chosen
    return {"string_array_value": {"data": values}}


def _amounts(proto) -> dict[str, Any]:
    return {"double_array_value": {"data": proto.value if proto.set_value else proto.default}}


def _mark(proto) -> dict[str, Any]:
    return {"bool_value": proto.value if proto.set_value else proto.default}


def _text(proto) -> dict[str, Any]:
    return {"string_value": proto.value if proto.set_value else proto.default}


CONTROLS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "number_input": _number,
    "selectbox": _choice,
    "button_group": _choices,
    "slider": _amounts,
    "checkbox": _mark,
    "text_input": _text,
}


@dataclass
class Repaint:
    """What one change took, seconds since it was sent.

    Attributes
    ----------
    headline, chart : until the first of them arrived; None: none did
    page : until the page was drawn for the first time, with what is computed at once
    settled : until nothing was left to compute
    exceptions : what the page shows of defects
    """

    headline: float | None = None
    chart: float | None = None
    page: float | None = None
    settled: float = 0.0
    exceptions: list[str] = field(default_factory=list)


class Session:
    """One visitor; closed as by closing the tab."""

    def __init__(self, address: str) -> None:
        self._address = address
        place = address.replace("http://", "ws://") + "/_stcore/stream"
        self._connection = ExitStack()
        self._socket = self._connection.enter_context(
            connect(place, subprotocols=["streamlit"], max_size=None)
        )
        self._script = self._query = ""
        self.labels: dict[str, str] = {}  # of buttons and folds: their ids
        self.headline = ""
        self._id = self._uploader = ""
        self._files: list[Any] = []
        self.controls: dict[str, tuple[str, dict[str, Any]]] = {}  # of a key: id and value

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def open(self, page: str = "", **query) -> Repaint:
        """Go to the page of this name with this link, and wait until it is settled."""
        self._query = urlencode(query, doseq=True)
        return self._ask(page_name=page)

    def set(self, key: str, **value) -> Repaint:
        """Change a control, as `set("memory", double_value=20_000)`, and wait."""
        self.send(key, **value)
        return self.wait()

    def send(self, key: str, **value) -> None:
        """Change a control, and wait for nothing."""
        name, _ = self.controls[key]
        self.controls[key] = name, value
        self._send()

    def press(self, label: str, wait: bool = True) -> Repaint | None:
        """Press a button that is labelled so."""
        self._send(pressed=self.labels[label])
        return self.wait() if wait else None

    def upload(self, name: str, content: bytes) -> Repaint:
        """Drop a file into the uploader of the page, and wait."""
        message = BackMsg()
        message.file_urls_request.request_id = "upload"
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self._id
        self._socket.send(message.SerializeToString())
        while (answer := self._receive()).WhichOneof("type") != "file_urls_response":
            pass
        (place,) = answer.file_urls_response.file_urls
        _put(self._address, place.upload_url, name, content)
        self._files = [(name, len(content), place)]
        self._send()
        return self.wait()

    def _receive(self) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(self._socket.recv(timeout=PATIENCE))
        return message

    def _ask(self, **more) -> Repaint:
        self._send(**more)
        return self.wait()

    def _send(self, pressed: str = "", page_name: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self._query
        state.page_name = page_name
        if not page_name:
            state.page_script_hash = self._script
        for name, value in self.controls.values():
            widget = state.widget_states.widgets.add(id=name)
            for kind, content in value.items():
                if isinstance(content, dict):
                    getattr(widget, kind).data.extend(content["data"])
                else:
                    setattr(widget, kind, content)
        if self._files:
            widget = state.widget_states.widgets.add(id=self._uploader)
            for name, size, place in self._files:
                info = widget.file_uploader_state_value.uploaded_file_info.add()
                info.name, info.size, info.file_id = name, size, place.file_id
                info.file_urls.CopyFrom(place)
        if pressed:
            state.widget_states.widgets.add(id=pressed, trigger_value=True)
        self._begun = time.monotonic()
        self._socket.send(message.SerializeToString())

    def wait(self) -> Repaint:
        """Until the page is drawn, and drawn again with what it computes unasked."""
        repaint = Repaint()
        while True:
            message = self._receive()
            passed = time.monotonic() - self._begun
            kind = message.WhichOneof("type")
            if kind == "delta":
                self._take(message.delta, repaint, passed)
            elif kind == "new_session":
                self._script = message.new_session.page_script_hash
                self._id = message.new_session.initialize.session_id
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif kind == "script_finished":
                repaint.page = repaint.page or passed
                if message.script_finished == IS_FINISHED:
                    repaint.settled = passed
                    return repaint

    def _take(self, delta, repaint: Repaint, passed: float) -> None:
        if delta.WhichOneof("type") != "new_element":
            block = delta.add_block
            folds = block.WhichOneof("type")
            if folds in ("expandable", "popover"):
                fold = getattr(block, folds)
                self.labels[fold.label] = fold.id
            return
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind)
        if kind in CONTROLS:
            key = element.id.split("-", 2)[-1]
            held = self.controls.get(key, ("",))[0]
            if element.set_value or held != element.id:  # else the browser keeps what it shows
                self.controls[key] = element.id, CONTROLS[kind](element)
        elif kind == "button":
            self.labels[element.label] = element.id
        elif kind == "file_uploader":
            self._uploader = element.id
        elif kind == "exception":
            repaint.exceptions.append(f"{element.type}: {element.message}")
        elif kind == "plotly_chart" and repaint.chart is None:
            repaint.chart = passed
        elif kind == "markdown" and element.body.startswith(HEADLINE):
            self.headline = element.body
            if repaint.headline is None:
                repaint.headline = passed


def _put(address: str, place: str, name: str, content: bytes) -> None:
    """Send a file as a browser's form does."""
    with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
        token = answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    mark = "a-line-that-no-trace-holds"
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    request = urllib.request.Request(
        address + place,
        data=head.encode() + content + f"\r\n--{mark}--\r\n".encode(),
        method="PUT",
        headers={
            "Content-Type": f"multipart/form-data; boundary={mark}",
            "X-Xsrftoken": token,
            "Cookie": f"_streamlit_xsrf={token}",
        },
    )
    urllib.request.urlopen(request).close()
