"""A shop whose server cannot add up: the app that docs/APP.md watches."""
import http.server
import pathlib
import sys
import traceback

PRICES = [5, 7, None]


class Shop(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/api/cart":
            return super().do_GET()
        try:
            total = str(sum(PRICES)).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(total)
        except TypeError:
            traceback.print_exc()
            self.send_error(500)


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    handler = lambda *args: Shop(*args, directory=here)
    http.server.ThreadingHTTPServer(("127.0.0.1", port), handler).serve_forever()
