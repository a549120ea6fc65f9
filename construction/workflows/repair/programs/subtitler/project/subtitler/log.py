"""The log of `make`; there is no clock in it, so that two runs can be compared."""


class Log:
    def __init__(self, path=None):
        self._path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", "utf-8")

    def _write(self, level, text):
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{level} {text}\n")

    def info(self, text):
        self._write("INFO", text)

    def warning(self, text):
        self._write("WARNING", text)
