"""Lines of var/log/shiftbook.log; the moment is that of the posting, not of the run."""


class Log:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._moment = ""
        self._said = set()

    def at(self, moment):
        self._moment = moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _write(self, level, text):
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._moment} {level} {text}\n")

    def info(self, text):
        self._write("INFO", text)

    def warning(self, text):
        """Once in a run is enough."""
        if text not in self._said:
            self._said.add(text)
            self._write("WARNING", text)
