// Wiring: load the columns, fill the filters, keep list, detail and funnel in step.
const Page = (() => {
  const SELECTS = ["stage", "gate", "reason", "outcome"];

  const inWords = (code, sentences) => (sentences[code] ? `${sentences[code]} ${code}` : code || "–");

  const fill = (select, places, words, sentences) => {
    const used = [...new Set(places)].filter((place) => words[place]);
    used.sort((a, b) => (words[a] < words[b] ? -1 : 1));
    for (const place of used) select.append(make("option", { value: String(place) }, inWords(words[place], sentences)));
  };

  const save = (name, type, text) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  const csvCell = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (typeof value === "string" && /^ *[=+\-@\t\r\n|%]/.test(text)) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const line = (rows, columns) => (i) => {
    const { id, reason, observed, limit, gate } = Rejections.record(rows, i);
    const bits = rows.id[i] < columns.items ? rows.failed[rows.id[i]] : 0;
    const others = columns.steps.filter(({ name }, place) => name !== gate && bits & (1 << place)).map(({ name }) => name);
    const seen = observed === null ? "" : limit === null ? told(observed) : `${told(observed)} / ${told(limit)}`;
    return make("div", { className: "line" },
      make("span", { className: "id" }, id), make("span", { className: "why" }, inWords(reason, columns.sentences)),
      make("span", { className: "num" }, seen), make("span", { className: "soft" }, others.length ? `also ${others.join(", ")}` : ""));
  };

  const wanted = (now) => {
    const number = (id) => (at(id).value === "" ? null : Number(at(id).value));
    return {
      exact: Object.fromEntries(SELECTS.map((name) => [name, number(`by-${name}`)])),
      q: at("q").value, within: number("within"), other: number("by-other"), order: at("order").value,
      rescued: at("rescued").checked ? now.outcomes : null,
    };
  };

  const reasons = (rows, { words, sentences }, apply) => Rejections.byReason(rows).map(({ reason, decided, units, entries }) => {
    const choose = make("button", { type: "button", className: "link" }, ...breakable(words[reason] || "–"));
    choose.addEventListener("click", () => {
      at("search").reset();
      at("by-reason").value = words[reason] ? String(reason) : "";
      apply();
      at("list").focus();
    });
    const sentence = sentences[words[reason]] || "";
    return make("tr", {}, make("th", { scope: "row" }, choose, make("span", { className: "meaning" }, sentence)), make("td", {}, words[decided]),
      make("td", { className: "num" }, grouped(units)), make("td", { className: "num" }, grouped(entries)));
  });

  const start = (columns) => {
    const rows = Rejections.load(columns), model = WhatIf.prepare(columns), known = Detail.places(columns);
    const served = document.body.dataset.served === "yes";
    const then = WhatIf.count(model);
    let now = then, found = [];
    const list = VirtualList(at("list"), line(rows, columns), (i, enter) => {
      if (i === null) Detail.clear();
      else Detail.show(rows, known, i, served ? Served.evidence : null);
      if (enter) at("chosen").focus();
    });
    const apply = () => {
      performance.mark("filter-start");
      found = Rejections.filter(rows, wanted(now));
      const shown = list.show(found);
      const cut = shown < found.length ? `; showing the first ${grouped(shown)} entries` : "";
      const all = Rejections.counted(columns.about.units, columns.about.entries);
      const some = found.length < rows.n ? `${Rejections.counted(Rejections.units(rows, found), found.length)}, of ` : "";
      at("found").textContent = `${some}${all}${cut}`;
      performance.measure("filter", "filter-start");
    };
    const changed = () => {
      now = WhatIf.count(model);
      Knobs.funnel(model, now, then);
      refill();
      if (at("rescued").checked) apply();
    };
    let waiting = 0;
    const later = (act, ms) => () => { clearTimeout(waiting); waiting = setTimeout(act, ms); };
    const refill = Knobs.build(model, then, changed);
    SELECTS.forEach((name) => fill(at(`by-${name}`), rows[name], columns.words, name === "reason" ? columns.sentences : {}));
    columns.steps.forEach(({ name, kind }, place) => {
      if (kind === "gate" && place < 31) at("by-other").append(make("option", { value: String(place) }, name));
    });
    at("reasons").replaceChildren(...reasons(rows, columns, () => setTimeout(apply)));
    at("search").addEventListener("change", apply);
    at("q").addEventListener("input", later(apply, 80));
    at("search").addEventListener("submit", (event) => { event.preventDefault(); apply(); });
    at("search").addEventListener("reset", () => setTimeout(apply));
    at("detail").addEventListener("keydown", (event) => { if (event.key === "Escape") list.focus(); });
    const records = () => Array.from(found, (i) => Rejections.record(rows, i));
    at("csv").addEventListener("click", () => {
      const all = records(), names = Object.keys(all[0] || Rejections.record(rows, 0));
      save("rejections.csv", "text/csv", [names, ...all.map(Object.values)].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n");
    });
    at("json").addEventListener("click", () => save("rejections.json", "application/json", JSON.stringify({ about: columns.about, rejections: records() }, null, 2)));
    Knobs.funnel(model, now, then);
    apply();
    if (served) Served.start();
    document.body.dataset.ready = "yes";
  };

  const load = async () => {
    const island = at("data");
    try {
      start(island ? JSON.parse(island.textContent) : await (await fetch("/data.json")).json());
    } catch (error) { at("found").textContent = `The page cannot be shown: ${error.message}`; throw error; }
  };

  return { load };
})();
// After the first paint: the columns take a moment to read.
requestAnimationFrame(() => setTimeout(Page.load));
