import { examples } from "./examples.js";

const place = document.getElementById("docs");
const token = localStorage.getItem("keyfold-token");

// Each operation with values that exist, so that it can be tried as it stands.
function filled(spec, known) {
  for (const operation of Object.values(spec.paths).flatMap((one) => Object.values(one))) {
    const values = known[operation.operationId] || {};
    for (const one of operation.parameters || []) {
      if (one.name in values && one.in !== "header" && one.required) one.example = values[one.name];
    }
    const body = operation.requestBody?.content?.["application/json"];
    for (const name of Object.keys(body?.example || {})) {
      if (name in values && typeof body.example[name] === "string") body.example[name] = values[name];
    }
  }
  return spec;
}

const [spec, known] = await Promise.all([fetch(place.dataset.openapi).then((one) => one.json()), examples()]);
// Swagger UI is dark by a class of its own.
const root = document.documentElement;
const dim = () => root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
new MutationObserver(dim).observe(root, { attributeFilter: ["data-theme"] });
dim();
// Swagger UI puts buttons into buttons, offers a choice of one server, and leaves out a level of headings.
const nothing = () => () => null;
const words = (_, { React }) => ({ text }) => React.createElement("span", null, text);
const titled = (Original, { React }) => (given) =>
  React.createElement(React.Fragment, null, React.createElement("h2", { className: "hide" }, "Operations"), React.createElement(Original, given));
const accessible = {
  wrapComponents: { ServersContainer: nothing, CopyToClipboardBtn: nothing, DeepLink: words, operations: titled },
};
const ui = SwaggerUIBundle({
  plugins: [() => accessible],
  spec: filled(spec, known),
  domNode: place,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  onComplete: () => {
    if (token) ui.preauthorizeApiKey("bearer", token);
  },
});
