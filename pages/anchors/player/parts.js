// The nodes of the player and small helpers. Joined behind the common nodes, in front of run.js and player.js.

const SVG = "http://www.w3.org/2000/svg";
const makeSvg = (tag) => document.createElementNS(SVG, tag);

function makeButton(parent, icon, act) {
  const button = add(parent, "button", "button");
  button.type = "button";
  button.addEventListener("click", act);
  button.parts = { icon: add(button, "span", "icon"), text: add(button, "span") };
  button.parts.icon.textContent = icon;
  return button;
}

function makeBar() {
  const node = make("div", "candidate");
  node.parts = { token: add(node, "span", "token"), bar: add(add(node, "span", "track"), "span", "bar") };
  node.parts.share = add(node, "span", "share");
  return node;
}

function makeLine() {
  const node = make("div", "store-line");
  node.parts = { label: add(node, "span", "quiet"), shape: add(node, "span", "shape"), bytes: add(node, "b") };
  return node;
}

function makeShare() {
  const node = make("tr");
  node.parts = ["th", "td", "td", "td"].map((tag) => add(node, tag));
  node.parts[0].scope = "row";
  return node;
}

// A panel with a heading; gives the node that its contents go into.
function panel(parent, className) {
  const node = add(parent, "section", `panel ${className}`);
  const title = add(node, "h2");
  return { node, title, body: add(node, "div", "inside") };
}

function percent(share) {
  if (share < 0.0005) return share > 0 ? "< 0.1\u00a0%" : "0\u00a0%";
  return share > 0.9995 && share < 1 ? "> 99.9\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`;
}
const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const sameMembers = (some, others) => some.length === others.length && some.every((one) => others.includes(one));
