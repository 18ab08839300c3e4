// Where the app is shown inside a page of one known site, that page's address follows. Nothing is ever listened to.

let told;

export default function outerAddress({ data: [{ query, outside }] }) {
  if (window.parent === window || query === told) return;
  told = query;
  window.parent.postMessage({ queryString: query, hash: "" }, outside);
}
