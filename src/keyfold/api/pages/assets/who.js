"use strict";
const signedIn = localStorage.getItem("keyfold-user");
if (signedIn) document.getElementById("who").textContent = `Signed in as ${signedIn}`;
