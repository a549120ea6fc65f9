"""Lines of var/log/presswork.log, at the moments of what they tell."""

from presswork.moments import written


class Log:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path

    def _write(self, moment, level, text):
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{written(moment)} {level} {text}\n")

    def info(self, moment, text):
        self._write(moment, "INFO", text)

    def warning(self, moment, text):
        self._write(moment, "WARNING", text)

    def error(self, moment, text):
        self._write(moment, "ERROR", text)
