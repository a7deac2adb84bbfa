// Filters the gallery. Everything is on the page without it.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  if (!form) return;
  const [given, suggested, clear] = ["given", "suggested", "clear"].map((id) => document.getElementById(id));
  const output = document.getElementById("shown");
  const nothing = document.querySelector(".nothing");
  const entries = [...document.querySelectorAll(".gallery > li, .suspects > tbody > tr")];

  const show = () => {
    let count = 0;
    for (const entry of entries) {
      const is = (select, key) => select.value === "" || select.value === entry.dataset[key];
      const shown = is(given, "given") && is(suggested, "suggested")
        && !(clear.checked && entry.dataset.abstains === "true");
      entry.hidden = !shown;
      count += shown ? 1 : 0;
    }
    output.textContent = `${count} of ${entries.length} shown`;
    nothing.hidden = count > 0;
  };
  const choose = (select, value) => {
    select.value = value;
    if (select.value !== value) select.value = "";
  };

  form.hidden = false;
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  // A form is reset after its listeners were told.
  form.addEventListener("reset", () => setTimeout(show));
  for (const link of document.querySelectorAll("a.show")) {
    link.addEventListener("click", () => {
      clear.checked = false;
      choose(given, link.dataset.given);
      choose(suggested, link.dataset.suggested);
      show();
    });
  }
  show();
})();
