// Sliders for the limits, and the funnel that follows from them.
const Knobs = (() => {
  const { cell, breaks, neighbours } = WhatIf;

  const reach = ({ values, bound, limit, whole }, n) => {
    let top = whole ? Math.max(2 * limit, 10) : 1;
    for (let row = 0; row < n; row += 1) {
      const value = cell(values, row);
      if (bound === "max" && breaks(bound, value, limit)) top = Math.max(top, value);
    }
    return top;
  };

  const ladder = (model, place, check) => {
    const lines = neighbours(model, place, check, 6).map((line) =>
      make("tr", {}, ...[line.limit, line.through, line.kept, line.open].map((x) => make("td", { className: "num" }, told(x)))));
    if (!lines.length) return make("p", { className: "soft" }, "This limit rejected nothing.");
    const heads = ["Limit", "pass this limit", "kept in the end", "not measured further"];
    return make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", className: "num" }, text)))),
      make("tbody", {}, ...lines));
  };

  const knob = (model, place, number, changed) => {
    const step = model.columns.steps[place], check = step.checks[number];
    const id = `knob-${place}-${number}`;
    const range = { min: 0, max: reach(check, step.rows.length), step: check.whole ? 1 : 0.01 };
    const slider = make("input", { type: "range", id, ...range });
    const box = make("input", { type: "number", min: 0, step: range.step, ariaLabel: `${check.name}, as a number` });
    const back = make("button", { type: "button", disabled: true }, `Reset to ${told(check.limit)}`);
    const near = make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Nearest values for ${check.name}` });
    const more = make("details", {}, make("summary", {}, `Nearest values for ${check.name}`), near);
    const fill = () => { if (more.open) near.replaceChildren(ladder(model, place, number)); };
    const put = (value) => {
      const limit = Number.isFinite(value) && value >= 0 ? value : check.limit;
      slider.value = String(limit);
      slider.setAttribute("aria-valuetext", told(limit));
      box.value = String(limit);
      box.style.width = `${box.value.length + 6}ch`; // all digits and the arrows
      WhatIf.move(model, place, number, limit);
      back.disabled = limit === check.limit;
      changed();
    };
    slider.value = box.value = String(check.limit);
    box.style.width = `${box.value.length + 6}ch`;
    slider.addEventListener("input", () => put(Number(slider.value)));
    box.addEventListener("change", () => put(box.value === "" ? NaN : Number(box.value)));
    back.addEventListener("click", () => { put(check.limit); slider.focus(); });
    more.addEventListener("toggle", fill);
    const label = make("label", { htmlFor: id }, make("strong", {}, check.name), ` ${check.meaning}`);
    return { reset: () => put(check.limit), fill,
      node: make("div", { className: "knob" }, label, make("div", { className: "turn" }, slider, box, back), more) };
  };

  const build = (model, then, changed) => {
    const knobs = [], groups = [];
    model.columns.steps.forEach((step, place) => {
      if (step.kind !== "gate") return;
      const mine = step.whatif
        ? step.checks.flatMap((check, number) => (check.fixed ? [] : [knob(model, place, number, changed)])) : [];
      knobs.push(...mine);
      const why = step.contradictions
        ? `${grouped(step.contradictions)} recorded verdicts contradict the current limits, so this gate has no sliders.`
        : mine.length ? "" : "This gate's limits are fixed.";
      const failed = then.steps[place].failed;
      const head = make("summary", {}, make("strong", {}, step.name), ` ${grouped(failed)} failed`);
      groups.push(make("details", { className: "gate", open: failed > 0 && place < 2 }, head,
        ...(why ? [make("p", { className: "soft" }, why)] : []), ...mine.map(({ node }) => node)));
    });
    at("knobs").replaceChildren(...groups);
    at("reset").addEventListener("click", () => knobs.forEach(({ reset }) => reset()));
    return () => knobs.forEach(({ fill }) => fill());
  };

  const shift = (now, then) => (now === then ? "" : ` (${now > then ? "+" : "−"}${grouped(Math.abs(now - then))})`);

  const funnel = (model, now, then) => {
    const lines = model.columns.steps.map(({ name, kind }, place) => {
      const { reached, failed, unmeasured } = now.steps[place], was = then.steps[place];
      const bar = make("span", { className: "bar", ariaHidden: "true" }, make("span"));
      bar.firstChild.style.width = `${reached ? (100 * (reached - failed - unmeasured)) / reached : 0}%`;
      const stage = kind === "stage"; // it records only what it turned away
      return make("tr", {}, make("th", { scope: "row" }, name, stage ? make("span", { className: "soft" }, " (stage)") : bar),
        ...[[stage ? null : reached, was.reached], [failed, was.failed], [unmeasured, was.unmeasured]]
          .map(([n, before]) => make("td", { className: "num" }, n === null ? "–" : grouped(n) + shift(n, before))));
    });
    at("steps").replaceChildren(...lines);
    const [verb, whose] = now.open === 1 ? ["was", "its outcome is"] : ["were", "their outcomes are"];
    const open = now.open ? `; ${grouped(now.open)} more ${verb} not measured further, so ${whose} unknown` : "";
    at("kept").textContent = `${grouped(now.kept)} of ${grouped(model.n)} would be kept${shift(now.kept, then.kept)}${open}.`;
  };

  return { build, funnel };
})();
