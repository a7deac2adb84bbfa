// Filters the gallery. Everything is on the page without it.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  if (!form) return;
  const [given, suggested, clear] = ["given", "suggested", "clear"].map((id) => document.getElementById(id));
  const output = document.getElementById("shown");
  const nothing = document.querySelector(".nothing");
  const entries = [...document.querySelectorAll(".gallery > li, .suspects > tbody > tr")];

  const more = document.getElementById("more");
  // So many at first, so that what follows the gallery is not out of reach.
  const few = 60;
  let limit = few;

  const show = () => {
    let count = 0;
    let fitting = 0;
    for (const entry of entries) {
      const is = (select, key) => select.value === "" || select.value === entry.dataset[key];
      const fits = is(given, "given") && is(suggested, "suggested")
        && !(clear.checked && entry.dataset.abstains === "true");
      fitting += fits ? 1 : 0;
      entry.hidden = !fits || fitting > limit;
      count += entry.hidden ? 0 : 1;
    }
    more.hidden = fitting <= limit;
    more.textContent = `Show ${fitting - count} more`;
    output.textContent = `${count} of ${entries.length} shown`;
    nothing.hidden = count > 0;
  };
  const choose = (select, value) => {
    select.value = value;
    if (select.value !== value) select.value = "";
  };

  const start = () => {
    limit = few;
    show();
  };

  form.hidden = false;
  form.addEventListener("change", start);
  more.addEventListener("click", () => {
    const next = entries.find((entry) => entry.hidden);
    limit = entries.length;
    show();
    // Who works by keyboard goes on where the new ones begin.
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("button[type=reset]").addEventListener("click", (event) => {
    // A form that is reset by itself tells its listeners before it has done so.
    event.preventDefault();
    form.reset();
    start();
  });
  for (const link of document.querySelectorAll("a.show")) {
    link.addEventListener("click", () => {
      clear.checked = false;
      choose(given, link.dataset.given);
      choose(suggested, link.dataset.suggested);
      start();
    });
  }
  show();
})();
