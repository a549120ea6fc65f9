// One rejection: what every gate saw, what it allows, and how far from the limit it is.
const Detail = (() => {
  const { cell, breaks } = WhatIf;
  const STATUS = ["passed", "failed", "unverified", "not measured"];

  const facts = (pairs) => make("dl", { className: "facts" },
    ...pairs.filter(([, value]) => value !== null && value !== "")
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, told(value)))));

  const places = (columns) => {
    const known = columns.steps.map(() => new Map());
    columns.steps.forEach(({ rows }, place) => rows.forEach((item, row) => known[place].set(item, row)));
    return known;
  };

  // A limit with direction and unit: "at most 0 files".
  const allowed = ({ around }, gate, reason, limit) => {
    const words = around[`${gate || ""} ${reason || ""} ${limit}`];
    return words ? `${words[0]} ${told(Number(limit))} ${words[1]}` : told(limit);
  };

  const near = (step, row) => step.checks.flatMap((check) => {
    const value = cell(check.values, row);
    if (!breaks(check.bound, value, check.limit)) return [];
    if (check.fixed) return [`${check.meaning.replace(/\.$/, "")}: this limit is fixed`];
    return [`would pass ${check.name} at a limit of ${told(value)} instead of ${told(check.limit)}`];
  });

  const gate = (columns, step, row) => {
    const status = STATUS[cell(step.status, row)];
    const reason = columns.words[cell(step.reason, row)];
    const part = make("li", { className: status.replace(" ", "-") },
      make("strong", {}, step.name), ` ${status}`, reason ? ` · ${reason}` : "");
    const [seen, limit] = [cell(step.observed, row), cell(step.limit, row)];
    if (seen !== null) part.append(make("span", { className: "soft" }, ` · measured ${told(seen)}, allowed: ${allowed(columns, step.name, reason, limit)}`));
    if (step.whatif && status === "failed") {
      for (const text of near(step, row)) part.append(make("p", { className: "near" }, text));
    }
    const measures = Object.entries(step.measures).map(([name, column]) => [name, cell(column, row)]);
    if (measures.length) {
      part.append(make("details", {}, make("summary", {}, `Measures of ${step.name}`), facts(measures)));
    }
    return part;
  };

  const show = (rows, known, i, evidence) => {
    const { columns } = rows, record = Rejections.record(rows, i), item = rows.id[i];
    const heading = make("h3", { id: "chosen", tabIndex: -1, className: "id" }, record.id);
    const sentence = columns.sentences[record.reason];
    const parts = [heading, ...(sentence ? [make("p", { className: "meaning" }, sentence)] : []), facts([
      ["Stage", record.stage], ["Unit", record.unit], ["Outcome", record.outcome], ["Gate", record.gate],
      ["Reason", record.reason], ["Measured", record.observed],
      ["Allowed", record.limit === null ? null : allowed(columns, record.gate, record.reason, record.limit)],
      ["Missing", record.missing],
      ["Units", record.n === 1 ? null : record.n],
      ["Source", record.path && (record.line ? `${record.path}:${record.line}` : record.path)],
    ])];
    if (item < columns.items) {
      const seen = columns.steps.flatMap((step, place) => {
        const row = known[place].get(item);
        return row === undefined || step.kind !== "gate" ? [] : [gate(columns, step, row)];
      });
      if (seen.length) parts.push(make("h4", {}, "What each gate measured"), make("ul", { className: "gates" }, ...seen));
      if (evidence) parts.push(evidence(item));
    }
    at("detail").replaceChildren(...parts);
  };

  const clear = () => at("detail").replaceChildren(make("p", { className: "soft" }, "No rejections match these filters."));

  return { places, show, clear };
})();
