/* Pictures: sent to the store that the service names, and kept by their key. */
import { Problem, h, rest } from "../../assets/app.js";

export const MOST = 4;

/** Send a file; gives its key. */
export async function upload(file) {
  const link = await rest.post("/images", { contentType: file.type });
  const body = Object.keys(link.fields).length ? Object.entries({ ...link.fields, file }).reduce((all, [name, value]) => (all.append(name, value), all), new FormData()) : file;
  const sent = await fetch(link.url, { method: link.method, headers: link.headers, body });
  if (!sent.ok) throw new Problem({ status: sent.status, detail: "The picture could not be sent." });
  return link.key;
}

/** A choice of pictures, each with words for those who do not see it. */
export function pictureChoice() {
  const chosen = h(".chosen"), files = h("input", { type: "file", id: "pictures", ariaLabel: "Choose pictures", tabIndex: -1, multiple: true, accept: "image/png,image/jpeg,image/webp,image/gif", onchange: preview });
  const wanted = () => [...files.files].slice(0, MOST);
  function preview() {
    chosen.replaceChildren(...wanted().map((one) => h(".line", h("img", { src: URL.createObjectURL(one), alt: "" }),
      h("input", { type: "text", maxLength: 500, ariaLabel: `What ${one.name} shows`, placeholder: "What does it show?" }))));
    if (files.files.length > MOST) chosen.append(h("p.muted", `A post has at most ${MOST} pictures; these are the first.`));
  }
  return {
    chosen, files,
    send: () => Promise.all(wanted().map(async (file, at) => ({ key: await upload(file), alt: chosen.children[at].lastChild.value.trim() }))),
    clear: () => chosen.replaceChildren(),
  };
}
