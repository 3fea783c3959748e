"use strict";
// A link to a row in a closed fold opens the fold: not every browser does so by itself.
(() => {
  const reveal = () => {
    const target = document.querySelector(":target");
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
