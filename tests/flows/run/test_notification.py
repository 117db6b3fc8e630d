"""A summary is posted through a block where one is named, and a post that fails costs a warning."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from prefect.blocks.abstract import NotificationBlock
from prefect.blocks.core import Block
from prefect.blocks.notifications import CustomWebhookNotificationBlock

from flows.nightly import post


@pytest.fixture
def webhook():
    bodies = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    server.server_close()


def block_at(url):
    return CustomWebhookNotificationBlock(
        name="assay", url=url, json_data={"title": "{{subject}}", "text": "{{body}}"}
    )


def test_the_text_arrives_through_a_real_block(webhook, monkeypatch):
    url, bodies = webhook
    monkeypatch.setattr(
        Block, "load", lambda name: block_at(url) if name == "custom-webhook/assay" else None
    )
    assert post("# Night\nall well", "Assay", "custom-webhook/assay") is True
    assert bodies == [{"title": "Assay", "text": "# Night\nall well"}]


@pytest.mark.parametrize("broken", ["no such block", "no notification block", "nobody listens"])
def test_a_post_that_fails_is_a_warning_without_the_address(broken, monkeypatch, caplog):
    def load(name):
        if broken == "no such block":
            raise ValueError(f"Unable to find block document named {name}")
        return (
            object()
            if broken == "no notification block"
            else block_at("http://127.0.0.1:9/secret-path")
        )

    monkeypatch.setattr(Block, "load", load)
    assert issubclass(CustomWebhookNotificationBlock, NotificationBlock)
    assert post("# Night", "Assay", "custom-webhook/assay") is False
    assert "custom-webhook/assay" in caplog.text
    assert "secret-path" not in caplog.text
