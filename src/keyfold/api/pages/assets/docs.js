"use strict";
const place = document.getElementById("docs");
const token = localStorage.getItem("keyfold-token");
const ui = SwaggerUIBundle({
  url: place.dataset.openapi,
  domNode: place,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  onComplete: () => {
    if (token) ui.preauthorizeApiKey("bearer", token);
  },
});
