// Nodes and how they are filled. Joined in front of the scripts of every component here.

function make(tag, className = "") {
  const node = document.createElement(tag);
  node.className = className;
  return node;
}

const add = (parent, tag, className) => parent.appendChild(make(tag, className));

// Every text goes in here, as text: a token such as "<s>" or "$x$" stays what it is.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Gives `parent` exactly `count` children: those it has stay, missing ones are made, surplus ones go.
function fill(parent, count, makeChild) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.appendChild(makeChild(parent.children.length));
}
