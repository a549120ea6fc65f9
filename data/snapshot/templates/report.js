"use strict";
(() => {
  const NAMES = ["ID", "Stage", "Unit", "Outcome", "Gate", "Reason", "Missing", "Measured", "Allowed", "Units"];
  const STAGE = 1, GATE = 4, REASON = 5, MEASURED = 7, UNITS = 9, PAGE = 25;
  const { words, rows, sentences } = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const cell = (row, i) => (i === 0 ? row[0] : i === UNITS ? String(row[i]) : words[row[i]]);
  const filters = { [GATE]: at("by-gate"), [REASON]: at("by-reason"), [STAGE]: at("by-stage") };
  // As data/figures.py writes numbers.
  const shownNumber = (x) => new Intl.NumberFormat("en", Number.isInteger(x) || Math.abs(x) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 }).format(x);
  const isMeasure = (row, i) => i === UNITS || (i === MEASURED && words[row[GATE]] !== "");
  const text = (row, i) => {
    const value = cell(row, i);
    return isMeasure(row, i) && value !== "" && Number.isFinite(Number(value)) ? shownNumber(Number(value)) : value;
  };
  const collator = new Intl.Collator("en", { numeric: true });
  const counted = (some) => {
    const units = some.reduce((sum, row) => sum + row[UNITS], 0);
    return `${shownNumber(units)} ${units === 1 ? "unit" : "units"} in ${shownNumber(some.length)} ${some.length === 1 ? "entry" : "entries"}`;
  };
  const all = counted(rows);
  let shown = rows, page = 0, order = { column: -1, down: false };

  const make = (tag, text) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const fillFilter = (column, select) => {
    const used = new Set(rows.map((row) => words[row[column]]));
    for (const word of [...used].filter(Boolean).sort(collator.compare)) {
      const option = make("option", column === REASON && sentences[word] ? `${sentences[word]} (${word})` : word);
      option.value = word;
      select.append(option);
    }
  };

  const compare = (a, b, column) => {
    const [x, y] = [cell(a, column), cell(b, column)];
    if (column < MEASURED) return collator.compare(x, y);
    const [p, q] = [x === "" ? NaN : Number(x), y === "" ? NaN : Number(y)];
    if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q) || collator.compare(x, y);
    return p - q;
  };

  const apply = () => {
    const wanted = at("q").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const hits = wanted.map((part) => new Set(words.flatMap((w, i) => (w.toLowerCase().includes(part) ? [i] : []))));
    const exact = Object.entries(filters).filter(([, select]) => select.value)
      .map(([column, select]) => [Number(column), words.indexOf(select.value)]);
    shown = !wanted.length && !exact.length ? rows : rows.filter((row) =>
      exact.every(([column, word]) => row[column] === word) &&
      wanted.every((part, i) => row[0].toLowerCase().includes(part) || row.slice(1, UNITS).some((word) => hits[i].has(word))));
    if (order.column >= 0) {
      const sign = order.down ? -1 : 1;
      shown = [...shown].sort((a, b) => sign * compare(a, b, order.column));
    }
    page = 0;
    draw();
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    const body = at("rows").tBodies[0];
    body.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => {
      const line = make("tr");
      NAMES.forEach((name, i) => {
        const box = make("td");
        const value = text(row, i), meaning = i === REASON && sentences[value];
        if (meaning) box.append(meaning, " ", make("code", value));
        else (value || "–").split(/(?<=[._])(?=\p{L})/u).forEach((part, at) => box.append(...(at ? [make("wbr"), part] : [part])));
        box.dataset.label = name;
        box.className = i === 0 ? "id" : cell(row, i) ? "" : "none";
        line.append(box);
      });
      return line;
    }));
    at("found").textContent = shown === rows ? all : `${counted(shown)}, of ${all}`;
    at("place").textContent = `Page ${shownNumber(page + 1)} of ${shownNumber(pages)}`;
    at("first").disabled = at("previous").disabled = page === 0;
    at("next").disabled = at("last").disabled = page === pages - 1;
  };

  const heads = NAMES.map((name, i) => {
    const head = make("th"), button = make("button", name);
    button.type = "button";
    button.addEventListener("click", () => {
      order = { column: i, down: order.column === i && !order.down };
      heads.forEach((other, j) => {
        other.removeAttribute("aria-sort");
        other.firstChild.textContent = NAMES[j] + (j === i ? (order.down ? " ▾" : " ▴") : "");
      });
      head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      apply();
    });
    head.scope = "col";
    head.append(button);
    return head;
  });

  const turn = (id, to) => at(id).addEventListener("click", () => { page = to(); draw(); });
  let pending = 0;
  at("rows").tHead.rows[0].append(...heads);
  for (const [column, select] of Object.entries(filters)) {
    fillFilter(Number(column), select);
    select.addEventListener("change", apply);
  }
  at("q").addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(apply, 120); });
  at("search").addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  at("clear").addEventListener("click", () => { at("search").reset(); apply(); at("q").focus(); });
  turn("first", () => 0);
  turn("previous", () => page - 1);
  turn("next", () => page + 1);
  turn("last", () => Infinity);
  for (const button of document.querySelectorAll("button[data-reason]")) {
    button.addEventListener("click", () => {
      at("search").reset();
      filters[REASON].value = button.dataset.reason;
      filters[STAGE].value = button.dataset.stage;
      apply();
      at("rejections").scrollIntoView();
      at("q").focus({ preventScroll: true });
    });
  }
  for (const id of ["search", "rows", "pager"]) at(id).hidden = rows.length === 0;
  draw();
})();
