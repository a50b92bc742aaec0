/* Who you are, in the bar above the pages for developers. */
"use strict";
{
  const who = document.getElementById("who");
  const user = localStorage.getItem("keyfold-user") || "";

  async function become(person, groups) {
    localStorage.removeItem("keyfold-token");
    localStorage.removeItem("keyfold-user");
    if (!person) return;
    const answer = await fetch(who.dataset.signIn, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ user: person, groups }),
    });
    if (!answer.ok) return;
    localStorage.setItem("keyfold-token", (await answer.json()).token);
    localStorage.setItem("keyfold-user", person);
  }

  if (who) {
    if (![...who.options].some((one) => one.value === user)) who.add(new Option(user, user), 1);
    who.value = user;
    who.addEventListener("change", async () => {
      const [chosen] = who.selectedOptions;
      const said = who.value === "…" ? prompt("User id, and groups after it") : `${who.value} ${chosen.dataset.groups || ""}`;
      if (said === null) { who.value = user; return; }
      const [person, ...groups] = said.trim().split(/[\s,]+/);
      await become(person, groups);
      location.reload();
    });
  }
}
