// The funnel under other limits, from the recorded observations: the same as whatif.py.
const WhatIf = (() => {
  const PASSES = 0, FAILS = 1, UNKNOWN = 2, FAILED = 1, NOT_MEASURED = 3;
  const isList = Array.isArray;
  const cell = (column, row) => (isList(column) ? column[row] : column.same);
  const rounded = (x) => Math.round(x * 1e9) / 1e9;

  const breaks = (bound, value, limit) => {
    if (value === null) return false;
    const [x, y] = [rounded(value), rounded(limit)];
    return bound === "min" ? x < y : x > y;
  };

  const rowState = (step, row, limits) => {
    const status = cell(step.status, row);
    if (!step.whatif || limits.size === 0) return status === FAILED ? FAILS : PASSES;
    let broke = false;
    for (let i = 0; i < step.checks.length; i += 1) {
      const check = step.checks[i], value = cell(check.values, row);
      if (breaks(check.bound, value, limits.has(i) ? limits.get(i) : check.limit)) return FAILS;
      broke = broke || breaks(check.bound, value, check.limit);
    }
    if (status !== FAILED) return PASSES;
    if (!broke) return FAILS;
    return step.complete ? PASSES : UNKNOWN;
  };

  const restate = (model, place) => {
    const step = model.columns.steps[place], state = model.states[place];
    for (let row = 0; row < step.rows.length; row += 1) {
      if (cell(step.status, row) !== NOT_MEASURED) state[step.rows[row]] = rowState(step, row, model.limits[place]);
    }
  };

  const prepare = (columns) => {
    const { steps, items: n } = columns;
    const decided = new Int16Array(n).fill(steps.length);
    for (let place = steps.length - 1; place >= 0; place -= 1) {
      const { rows, status } = steps[place];
      for (let row = 0; row < rows.length; row += 1) {
        if (cell(status, row) === FAILED) decided[rows[row]] = place;
      }
    }
    const states = steps.map((_, place) => decided.map((at) => (place < at ? PASSES : UNKNOWN)));
    const seen = steps.map(({ rows }) => { const own = new Uint8Array(n); for (const item of rows) own[item] = 1; return own; });
    const model = { columns, n, decided, states, seen, limits: steps.map(() => new Map()) };
    steps.forEach((_, place) => restate(model, place));
    return model;
  };

  // Move the limit of one check; undefined puts it back.
  const move = (model, place, check, limit) => {
    const limits = model.limits[place];
    const recorded = model.columns.steps[place].checks[check].limit;
    if (limit === undefined || rounded(limit) === rounded(recorded)) limits.delete(check);
    else limits.set(check, limit);
    restate(model, place);
  };

  const count = (model) => {
    const steps = model.states.map(() => ({ reached: 0, failed: 0, unmeasured: 0 }));
    const outcomes = new Int16Array(model.n).fill(-1);
    let kept = 0, open = 0;
    for (let item = 0; item < model.n; item += 1) {
      let place = 0;
      for (; place < steps.length; place += 1) {
        const state = model.states[place][item];
        if (model.seen[place][item] || state !== PASSES) steps[place].reached += 1;
        if (state === FAILS) { steps[place].failed += 1; outcomes[item] = 2 * place; break; }
        if (state === UNKNOWN) { steps[place].unmeasured += 1; outcomes[item] = 2 * place + 1; open += 1; break; }
      }
      if (place === steps.length) kept += 1;
    }
    return { steps, outcomes, kept, open };
  };

  // Values at which the next rejected items would pass this check, the nearest first.
  const neighbours = (model, place, check, most) => {
    const { values, bound, limit } = model.columns.steps[place].checks[check];
    const { rows } = model.columns.steps[place];
    const found = new Map();
    for (let row = 0; row < rows.length; row += 1) {
      const value = cell(values, row);
      if (breaks(bound, value, limit)) found.set(value, (found.get(value) || 0) + 1);
    }
    const near = [...found.keys()].sort((a, b) => (bound === "min" ? b - a : a - b)).slice(0, most);
    const before = count(model), held = model.limits[place].get(check);
    let through = 0;
    const told = near.map((value) => {
      move(model, place, check, value);
      const after = count(model);
      through += found.get(value);
      return { limit: value, through, kept: after.kept - before.kept, open: after.open - before.open };
    });
    move(model, place, check, held);
    return told;
  };

  return { FAILED, cell, breaks, prepare, move, count, neighbours };
})();
