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
    const { attempts, configurations, pages, results, tasks, ways } = parsed();
    const wanted = configurations.indexOf(configuration);
    const column = { operation: 5, termination: 6 }[grouping], way = ways.indexOf(group);
    const fits = column ? (a) => a[column] === way
      : grouping === null ? () => true
      : grouping === "task" ? (a) => tasks[a[1]][0] === group
      : (a) => tasks[a[1]][1][grouping] === group;
    const own = attempts.filter((a) => a[0] === wanted && fits(a));
    const worst = ["failed", "unjudged", "infrastructure", "passed"];
    own.sort((a, b) => worst.indexOf(results[a[3]]) - worst.indexOf(results[b[3]]));
    const kind = grouping === null ? "" : `, ${grouping} ${group}`;
    at("chosen").textContent = `${own.length} attempts of ${configuration}${kind}`;
    const link = (text, ...path) => {
      const anchor = make("a", text);
      anchor.href = ["private", ...path.map(encodeURIComponent)].join("/") + ".html";
      return anchor;
    };
    const shown = make("table"), head = shown.createTHead().insertRow(), lines = shown.createTBody();
    for (const name of ["task", "epoch", "result", "attempt"]) {
      const cell = make("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    for (const [, task, epoch, result, attempt] of own) {
      const line = lines.insertRow(), name = tasks[task][0];
      const about = document.createElement("div");
      about.className = "small";
      about.textContent = tasks[task][2];
      line.insertCell().append(pages ? link(name, "tasks", name) : name, about);
      line.insertCell().textContent = epoch;
      line.insertCell().textContent = results[result];
      const open = pages ? link("open", "attempts", configuration, `${name}-${epoch}`) : attempt;
      line.insertCell().append(open);
    }
    at("attempts").replaceChildren(shown);
    at("list").scrollIntoView();
  };

  body.addEventListener("click", (event) => {
    const button = event.target.closest("th button");
    if (button) list(null, null, button.textContent);
  });

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
