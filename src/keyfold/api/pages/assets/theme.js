/* Before anything is drawn: the look that was chosen, if one was. */
"use strict";
{
  const chosen = new URLSearchParams(location.search).get("theme") || localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
