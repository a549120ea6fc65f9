"""The service: a thread that ticks, and HTTP on the loopback address."""

import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from dispatch.guard import Busy
from dispatch.settings import read_settings
from dispatch.status import Status


class Worker(threading.Thread):
    def __init__(self, dispatcher, poll, log):
        super().__init__(daemon=True)
        self._dispatcher, self._poll, self._log = dispatcher, poll, log
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(self._poll):
            try:
                with self._dispatcher.guard:
                    self._dispatcher.tick(time.time())
            except Busy as error:
                self._log.warning(f"tick left out: {error}", time.time())
            except Exception as error:
                self._dispatcher.stopped = f"worker stopped: {type(error).__name__}: {error}"
                self._log.error(self._dispatcher.stopped, time.time())
                return


class _Handler(BaseHTTPRequestHandler):
    status = None

    def _respond(self, method):
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(length)) if length else {}
        except ValueError:
            self._send(400, {"error": "the body is not JSON"})
            return
        self._send(*self.status.answer(method, self.path, body, time.time()))

    def _send(self, code, content):
        data = json.dumps(content, default=str).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self._respond("GET")

    def do_POST(self):
        self._respond("POST")

    def log_message(self, *_):
        return


def serve(root, dispatcher, port_file, log):
    """Serve until SIGTERM or SIGINT; the port is written to a file once requests are answered."""
    status = Status(dispatcher, lambda: read_settings(root))
    handler = type("Handler", (_Handler,), {"status": status})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    worker = Worker(dispatcher, dispatcher.settings.poll, log)
    worker.start()

    def stop(*_):
        threading.Thread(target=server.shutdown, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    port_file.write_text(str(server.server_address[1]), "utf-8")
    server.serve_forever(poll_interval=0.05)
    worker.ended.set()
    worker.join(5)
    log.info("stopped", time.time())
