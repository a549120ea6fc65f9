// The theme's search is a dialogue without a name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
// Wide tables are put into scroll boxes by the theme, without a way to reach them by keyboard.
new MutationObserver(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    box.tabIndex = 0;
  }
}).observe(document.body, { childList: true, subtree: true });
// The button that leads back to the top hides while one scrolls down to it, and takes the focus along.
document.querySelector(".md-top")?.setAttribute("tabindex", "-1");
// The switches of the colours, which follow the system here, are stops that nobody can see.
for (const stop of document.querySelectorAll(".md-option")) {
  stop.tabIndex = -1;
}
