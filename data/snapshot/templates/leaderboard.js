"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const table = at("table"), body = table.tBodies[0];
  const rows = [...body.rows];
  const collator = new Intl.Collator("en", { numeric: true });
  const FIRST = 200;  // attempts that are listed at once
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

  // A browser may forbid a page of a file to keep anything.
  const PLACE = `chosen ${location.pathname}`, ATTEMPT = "#attempt=";
  const keep = (chosen) => { try { sessionStorage.setItem(PLACE, JSON.stringify(chosen)); } catch {} };
  const kept = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)); } catch { return null; } };

  const list = (grouping, group, configuration) => {
    const { attempts, configurations, pages, results, said, sorting, tasks, ways } = parsed();
    const wanted = configurations.indexOf(configuration), isAll = configuration === null;
    if (wanted < 0 && !isAll) return;
    const column = { operation: 5, termination: 6 }[grouping], way = ways.indexOf(group);
    const fits = column ? (a) => a[column] === way
      : grouping === null ? () => true
      : grouping === "task" ? (a) => tasks[a[1]][0] === group
      : (a) => tasks[a[1]][1][grouping] === group;
    const own = attempts.filter((a) => (isAll ? results[a[3]] === "failed" : a[0] === wanted) && fits(a));
    const worst = ["failed", "unjudged", "infrastructure", "passed"];
    const rank = configurations.map((name) => sorting.findIndex((row) => row[0] === name));
    own.sort((a, b) => rank[a[0]] - rank[b[0]] || worst.indexOf(results[a[3]]) - worst.indexOf(results[b[3]]));
    const head = [...document.querySelectorAll(".heat th[data-group]")].find((cell) =>
      cell.dataset.group === group && cell.closest("table").dataset.grouping === grouping);
    const kind = head ? `, ${grouping === "termination" ? "end" : grouping}: ${head.textContent}` : "";
    const n = `${own.length} ${isAll ? "failed " : ""}${own.length === 1 ? "attempt" : "attempts"}`;
    at("chosen").textContent = `${n} of ${isAll ? "all configurations" : configuration}${kind}`;
    const link = (text, ...path) => {
      const anchor = make("a", text);
      anchor.href = ["private", ...path.map(encodeURIComponent)].join("/") + ".html";
      return anchor;
    };
    const shown = make("table"), top = shown.createTHead().insertRow(), lines = shown.createTBody();
    const heads = ["what was asked", "repetition", "result"];
    shown.className = "cards";
    for (const name of heads) {
      const cell = make("th", name);
      cell.scope = "col";
      top.append(cell);
    }
    const add = ([whose, task, epoch, result, attempt, , way]) => {
      const line = lines.insertRow();
      line.id = `attempt-${attempt}`;
      const [name, , about] = tasks[task];
      const ids = make("div");
      ids.className = "small";
      ids.append(...(isAll ? [`${configurations[whose]}: `] : []), pages ? link("the task", "tasks", name) : attempt, " ", make("code", name));
      const words = about || name;
      const asked = pages ? link(words, "attempts", configurations[whose], `${name}-${epoch}`) : words;
      const why = said[way] ? `: ${said[way][0].toLowerCase()}${said[way].slice(1)}` : "";
      for (const [index, parts] of [[asked, ids], [epoch], [results[result] + why]].entries()) {
        const cell = line.insertCell(), box = make("div");
        cell.dataset.label = heads[index];
        box.append(...parts);
        cell.append(box);
      }
    };
    own.slice(0, FIRST).forEach(add);
    at("attempts").replaceChildren(shown);
    at("whose").value = configuration ?? "";
    at("way").value = grouping === "termination" ? group : "";
    keep([grouping, group, configuration]);
    if (own.length > FIRST) {
      const rest = make("button", `show all ${own.length}`);
      rest.type = "button";
      rest.addEventListener("click", () => { own.slice(FIRST).forEach(add); rest.remove(); });
      at("attempts").append(rest);
    }
  };

  for (const name of parsed().configurations) at("whose").append(new Option(name));
  for (const way of new Set(parsed().attempts.map((a) => a[6]))) {
    if (typeof way === "number") at("way").append(new Option(parsed().said[way] || parsed().ways[way], parsed().ways[way]));
  }
  at("narrow").addEventListener("change", () => {
    const way = at("way").value || null;
    choose(way && "termination", way, at("whose").value || null);
  });

  // What is chosen stands in the address, so that a link and Back lead to it.
  const CHOSEN = "#chosen=";
  const choose = (...chosen) => {
    const address = CHOSEN + encodeURIComponent(JSON.stringify(chosen));
    if (location.hash === address) at("list").scrollIntoView();
    else location.hash = address;
  };
  // From the page of an attempt or a task: to what was chosen before, and to the attempt there.
  const comeBack = (scrolls) => {
    const own = location.hash.startsWith(ATTEMPT) ? decodeURIComponent(location.hash.slice(ATTEMPT.length)) : null;
    const isBack = own !== null || location.hash === "#list";
    list(...((isBack && kept()) || [null, null, null]));
    if (own === null) return isBack && scrolls && at("list").scrollIntoView();
    const row = () => at(`attempt-${own}`) || (at("attempts").querySelector(":scope > button")?.click(), at(`attempt-${own}`));
    if (!row()) {
      const { attempts, configurations } = parsed();
      const mine = attempts.find((a) => a[4] === own);
      if (mine) list(null, null, configurations[mine[0]]);
    }
    if (scrolls) row()?.scrollIntoView({ block: "center", behavior: "instant" });
    row()?.querySelector("a")?.focus({ preventScroll: true });
  };
  const follow = (scrolls) => {
    if (!location.hash.startsWith(CHOSEN)) return comeBack(scrolls);
    let chosen;
    try {
      chosen = JSON.parse(decodeURIComponent(location.hash.slice(CHOSEN.length)));
    } catch {
      return;
    }
    if (!Array.isArray(chosen) || chosen.length !== 3) return;
    list(...chosen);
    if (scrolls) at("list").scrollIntoView();
  };
  addEventListener("hashchange", () => location.hash.startsWith(CHOSEN) && follow(true));

  body.addEventListener("click", (event) => {
    const button = event.target.closest("th button");
    if (button) choose(null, null, button.textContent);
  });

  for (const heat of document.querySelectorAll(".heat")) {
    const groups = [...heat.tHead.rows[0].cells].map((cell) => cell.dataset.group);
    heat.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const cell = button.parentElement, line = cell.parentElement;
      choose(heat.dataset.grouping, groups[cell.cellIndex], line.cells[0].textContent);
    });
  }
  follow(performance.getEntriesByType("navigation")[0]?.type !== "back_forward");
})();
