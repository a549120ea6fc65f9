// The theme's search is a dialogue without a name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
