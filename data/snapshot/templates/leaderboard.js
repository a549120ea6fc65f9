"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const table = at("table"), body = table.tBodies[0];
  const rows = [...body.rows];
  const collator = new Intl.Collator("en", { numeric: true });
  let data = null;
  const parsed = () => (data ??= JSON.parse(at("data").textContent));
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "string" ? collator.compare(a, b) : a - b;
  };
  const make = (tag, text) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  [...table.tHead.querySelectorAll("button")].forEach((button, column) => {
    button.addEventListener("click", () => {
      const head = button.parentElement;
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const { sorting } = parsed();
      const order = rows.map((_, i) => i);
      order.sort((i, j) => {
        const [a, b] = [sorting[i][column], sorting[j][column]];
        if (a === null || b === null) return compare(a, b);
        return down ? compare(b, a) : compare(a, b);
      });
      body.append(...order.map((i) => rows[i]));
    });
  });

  const list = (grouping, group, configuration) => {
    const { attempts, configurations, results, tasks, ways } = parsed();
    const wanted = configurations.indexOf(configuration);
    const column = { operation: 5, termination: 6 }[grouping], way = ways.indexOf(group);
    const fits = column ? (a) => a[column] === way : (a) => tasks[a[1]][1][grouping] === group;
    const own = attempts.filter((a) => a[0] === wanted && fits(a));
    at("chosen").textContent = `${own.length} attempts of ${configuration}, ${grouping} ${group}`;
    const shown = make("table"), head = shown.createTHead().insertRow(), lines = shown.createTBody();
    for (const name of ["task", "epoch", "result", "attempt"]) {
      const cell = make("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    for (const [, task, epoch, result, attempt] of own) {
      const line = lines.insertRow();
      for (const text of [tasks[task][0], epoch, results[result], attempt]) {
        line.insertCell().textContent = text;
      }
    }
    at("attempts").replaceChildren(shown);
    at("list").scrollIntoView();
  };

  for (const heat of document.querySelectorAll(".heat")) {
    const names = [...heat.tHead.rows[0].cells].map((cell) => cell.textContent);
    heat.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const cell = button.parentElement, line = cell.parentElement;
      const group = line.cells[0].dataset.group ?? line.cells[0].textContent;
      list(heat.dataset.grouping, group, names[cell.cellIndex]);
    });
  }
})();
