// What only the served page can do: private evidence and sign-offs, both with the token.
const Served = (() => {
  const ask = async (path, body) => {
    const token = at("token").value.trim();
    if (!token) throw new Error("Enter the token printed by the command.");
    const answer = await fetch(path, {
      method: "POST", headers: { "Content-Type": "application/json", "X-Audit-Token": token }, body: JSON.stringify(body),
    });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    return said;
  };

  const evidence = (item) => {
    const place = make("div", { ariaLive: "polite" });
    const button = make("button", { type: "button" }, "Show private evidence");
    button.addEventListener("click", async () => {
      try {
        const { missing, changed, turns } = await ask("/evidence", { item });
        const changes = changed.map(({ kind, source, before, after }) =>
          make("p", {}, make("strong", {}, "Changed by masking: "), `${kind}, ${source}: ${before} → ${after}`));
        place.replaceChildren(...missing.map(({ kind, source, name }) =>
          make("p", {}, make("strong", {}, "Missing: "), `${kind}, ${source}: ${name}`)), ...changes, ...turns.flatMap(({ role, path, line, text }) => [
          make("p", { className: "soft" }, `${role} · ${path}:${told(line)}`),
          make("pre", { tabIndex: 0, ariaLabel: "Evidence" }, text),
        ]));
        if (!turns.length && !missing.length && !changed.length) place.textContent = "No turns are recorded for this item.";
      } catch (error) { place.replaceChildren(make("p", { className: "bad" }, error.message)); }
    });
    return make("div", { className: "evidence" }, button, make("p", { className: "soft" }, "Every access is logged."), place);
  };

  const list = (signed) => at("signed").replaceChildren(...signed.map(({ at: when, name, note, run_id }) =>
    make("li", {}, make("strong", {}, name), ` ${when} · ${run_id}`, make("p", { className: "note" }, note))));

  const start = () => {
    const said = (text) => { at("said").textContent = text; };
    at("sign").addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        list((await ask("/sign-off", { name: at("name").value, note: at("note").value })).signed);
        at("note").value = "";
        said("Signed.");
      } catch (error) { said(error.message); }
    });
    at("signs").addEventListener("click", async () => {
      try {
        const { signed } = await ask("/signed", {});
        list(signed);
        said(`${signed.length} sign-offs; the hash chain is intact.`);
      } catch (error) { said(error.message); }
    });
  };

  return { evidence, start };
})();
