"use strict";
const form = document.getElementById("sign-in");
const shown = document.getElementById("token");
shown.value = localStorage.getItem("keyfold-token") || "";

async function signIn(user, groups) {
  const answer = await fetch("sign-in", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ user, groups }),
  });
  const body = await answer.json();
  shown.value = answer.ok ? body.token : body.detail;
  if (answer.ok) {
    localStorage.setItem("keyfold-token", body.token);
    localStorage.setItem("keyfold-user", user);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(form.user.value, form.groups.value.split(/[\s,]+/).filter(Boolean));
});
for (const button of document.querySelectorAll("[data-user]")) {
  button.addEventListener("click", () => {
    form.user.value = button.dataset.user;
    form.groups.value = button.dataset.groups;
    form.requestSubmit();
  });
}
