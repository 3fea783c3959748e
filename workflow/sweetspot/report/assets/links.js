"use strict";
// A link to a row in a closed fold opens the fold: not every browser does so by itself. And a tooltip has the beginning of a
// long source; the whole stands in the table of origins, from where it is taken when somebody asks.
(() => {
  const reveal = () => {
    const target = document.querySelector(":target");
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  const complete = (event) => {
    const figure = event.target.closest && event.target.closest("a.n"), row = figure && document.getElementById(figure.hash.slice(1));
    if (row) figure.title = figure.title.replace(/[^·]*… \(origin \d+\)/, () => ` ${row.cells[2].textContent}`);
  };
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, complete);
})();
