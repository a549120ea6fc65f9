// Rejections as typed arrays: filtering and ordering 100,000 rows between two frames.
const Rejections = (() => {
  const { cell, breaks, FAILED } = WhatIf;
  const CODED = ["id", "stage", "unit", "outcome", "gate", "reason", "path"];

  const load = (columns) => {
    const n = columns.about.entries, table = columns.rejections;
    const rows = { n, columns };
    for (const name of CODED) rows[name] = Uint32Array.from({ length: n }, (_, i) => cell(table[name], i));
    rows.margin = margins(rows);
    rows.failed = failures(columns);
    rows.names = columns.ids.map((name) => name.toLowerCase());
    rows.lowWords = columns.words.map((word) => word.toLowerCase());
    rows.orders = { listed: Uint32Array.from({ length: n }, (_, i) => i) };
    return rows;
  };

  // Per item the gates that it failed, a bit each (the first 31 steps).
  const failures = ({ steps, items }) => {
    const failed = new Uint32Array(items);
    steps.slice(0, 31).forEach(({ rows, status }, place) => {
      for (let row = 0; row < rows.length; row += 1) {
        if (cell(status, row) === FAILED) failed[rows[row]] |= 1 << place;
      }
    });
    return failed;
  };

  // How far beyond the limit, as a share of the limit: the worst broken check; NaN without one.
  const margins = ({ n, columns, id, gate }) => {
    const byGate = new Map();
    for (const step of columns.steps.filter((each) => each.whatif)) {
      const margin = new Map();
      step.rows.forEach((item, row) => {
        for (const { bound, values, limit } of step.checks) {
          const value = cell(values, row);
          if (!breaks(bound, value, limit)) continue;
          const far = Math.abs(value - limit) / Math.max(Math.abs(limit), 1);
          margin.set(item, Math.max(far, margin.get(item) ?? 0));
        }
      });
      byGate.set(columns.words.indexOf(step.name), margin);
    }
    const far = new Float64Array(n).fill(NaN);
    for (let i = 0; i < n; i += 1) far[i] = byGate.get(gate[i])?.get(id[i]) ?? NaN;
    return far;
  };

  const order = (rows, by) => {
    if (!rows.orders[by]) {
      const far = rows.margin.map((x) => (Number.isNaN(x) ? Infinity : x));
      rows.orders[by] = rows.orders.listed.slice().sort((a, b) => (far[a] === far[b] ? a - b : far[a] < far[b] ? -1 : 1));
    }
    return rows.orders[by];
  };

  // `wanted`: words' places by column, q, within (a share), other (a step's place), outcomes.
  const filter = (rows, wanted) => {
    const exact = Object.entries(wanted.exact).filter(([, word]) => word !== null).map(([name, word]) => [rows[name], word]);
    const q = wanted.q.trim().toLowerCase();
    const idHit = q ? rows.names.map((name) => name.includes(q)) : null;
    const wordHit = q ? rows.lowWords.map((word) => word.includes(q)) : null;
    const found = new Uint32Array(rows.n);
    let n = 0;
    next: for (const i of order(rows, wanted.order)) {
      for (const [column, word] of exact) if (column[i] !== word) continue next;
      if (wanted.within !== null && !(rows.margin[i] <= wanted.within)) continue;
      const item = rows.id[i], isItem = item < rows.failed.length;
      if (wanted.other !== null && !(isItem && rows.failed[item] & (1 << wanted.other))) continue;
      if (wanted.rescued && !(isItem && (wanted.rescued[item] === -1 || wanted.rescued[item] % 2 === 1))) continue;
      if (q && !(idHit[item] || wordHit[rows.reason[i]] || wordHit[rows.path[i]])) continue;
      found[n] = i;
      n += 1;
    }
    return found.subarray(0, n);
  };

  const record = ({ columns }, i) => {
    const { words, ids, rejections: table } = columns;
    const at = (name) => cell(table[name], i), word = (name) => words[at(name)] || null;
    return {
      id: ids[at("id")], stage: word("stage"), unit: word("unit"), outcome: word("outcome"),
      gate: word("gate"), reason: word("reason"), observed: at("observed"), limit: at("limit"),
      n: at("n"), path: word("path"), line: at("line"), missing: word("missing"),
    };
  };

  // "22 858 units in 10 746 entries": the count that the report and the commands give.
  const counted = (units, entries) =>
    `${grouped(units)} ${units === 1 ? "unit" : "units"} in ${grouped(entries)} ${entries === 1 ? "entry" : "entries"}`;
  const units = ({ columns }, found) => found.reduce((sum, i) => sum + cell(columns.rejections.n, i), 0);

  // Units and entries by reason and gate (or stage): those of gates first, then the most units.
  const byReason = (rows) => {
    const groups = new Map(), { words, rejections: table } = rows.columns;
    for (let i = 0; i < rows.n; i += 1) {
      const decided = rows.gate[i] && words[rows.gate[i]] ? rows.gate[i] : rows.stage[i];
      const key = `${rows.reason[i]} ${decided}`;
      const group = groups.get(key) || { reason: rows.reason[i], decided, isGate: decided === rows.gate[i], units: 0, entries: 0 };
      group.units += cell(table.n, i);
      group.entries += 1;
      groups.set(key, group);
    }
    return [...groups.values()].sort((a, b) => b.isGate - a.isGate || b.units - a.units || b.entries - a.entries);
  };

  return { load, filter, record, counted, units, byReason };
})();
