// Small builders, and a listbox that draws only the rows in sight.
const make = (tag, props = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};
// A name that a narrow column breaks at its dots and underscores, and nowhere else.
const breakable = (name) => name.split(/(?<=[._])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
const at = (id) => document.getElementById(id);
// As data/figures.py writes numbers.
const grouped = (x) => new Intl.NumberFormat("en", Number.isInteger(x) || Math.abs(x) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 }).format(x);
const TRUTHS = { true: "yes", false: "no", True: "yes", False: "no" };
const told = (value) => TRUTHS[value] ?? (typeof value === "number" ? grouped(value) : value === null || value === undefined ? "–" : String(value));

const VirtualList = (box, draw, choose) => {
  const MOST = 15e6; // pixels: browsers lose count beyond
  const NARROW = matchMedia("(max-width: 48rem)");
  const track = make("div", { className: "track", role: "presentation" });
  let rows = [], active = 0, pending = 0;
  box.append(track);
  const high = () => parseFloat(getComputedStyle(box).getPropertyValue("--row"));
  const shown = () => Math.min(rows.length, Math.floor(MOST / high()));

  const paint = () => {
    pending = 0;
    const row = high(), n = shown();
    track.style.height = `${n * row}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / row) - 4);
    const last = Math.min(n, Math.ceil((box.scrollTop + box.clientHeight) / row) + 4);
    const lines = [];
    for (let place = first; place < last; place += 1) {
      const line = draw(rows[place]);
      line.id = `row-${place}`;
      line.style.transform = `translateY(${place * row}px)`;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", String(place === active));
      line.setAttribute("aria-posinset", String(place + 1));
      line.setAttribute("aria-setsize", String(n));
      line.dataset.place = String(place);
      lines.push(line);
    }
    track.replaceChildren(...lines);
    if (at(`row-${active}`)) box.setAttribute("aria-activedescendant", `row-${active}`);
    else box.removeAttribute("aria-activedescendant");
  };
  const soon = () => { pending = pending || requestAnimationFrame(paint); };

  const go = (place) => {
    if (!shown()) return;
    active = Math.min(Math.max(place, 0), shown() - 1);
    const row = high(), top = active * row;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + row > box.scrollTop + box.clientHeight) box.scrollTop = top + row - box.clientHeight;
    paint();
    choose(rows[active], false);
  };

  const page = () => Math.max(1, Math.floor(box.clientHeight / high()) - 1);
  const keys = {
    ArrowDown: () => go(active + 1), ArrowUp: () => go(active - 1),
    PageDown: () => go(active + page()), PageUp: () => go(active - page()),
    Home: () => go(0), End: () => go(Infinity),
    Enter: () => { if (shown()) choose(rows[active], true); },
  };
  box.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  box.addEventListener("click", (event) => {
    const line = event.target.closest("[data-place]");
    if (!line) return;
    go(Number(line.dataset.place));
    if (NARROW.matches) choose(rows[active], true); // the details are below the list
  });
  box.addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  return {
    show: (found) => {
      rows = found; active = 0; box.scrollTop = 0;
      paint();
      choose(rows.length ? rows[0] : null, false);
      return shown();
    },
    focus: () => box.focus(),
  };
};
