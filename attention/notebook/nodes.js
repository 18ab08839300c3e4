// Nodes and how they are filled, and what comes packed. Joined in front of the scripts of every component here.

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

// Pixels of a length in rem, which is 16 of them unless the visitor, or the page, wants larger type.
const rem = (length) => length * parseFloat(getComputedStyle(document.documentElement).fontSize);

// Numbers that Python has packed as base64.
function bytes(base64) {
  const letters = atob(base64);
  const array = new Uint8Array(letters.length);
  for (let i = 0; i < array.length; i++) array[i] = letters.charCodeAt(i);
  return array;
}

// What packing.py makes: { texts, …, thousandths of all weights, mask }.
function readMessage(message) {
  const begin = 4 + new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(message.subarray(4, begin)));
  const [count, masked] = data.cells;
  const [high, mask] = [begin + count, begin + count + Math.ceil(count / 4)];
  data.thousandths = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    data.thousandths[i] = message[begin + i] | (((message[high + (i >> 2)] >> (2 * (i & 3))) & 3) << 8);
  }
  data.allowed = masked ? new Uint8Array(masked) : null;
  for (let i = 0; i < masked; i++) data.allowed[i] = (message[mask + (i >> 3)] >> (i & 7)) & 1;
  return data;
}

const floats = (base64) => new Float32Array(bytes(base64).buffer);

const pen = document.createElement("canvas").getContext("2d");

function isDark(color) {
  pen.fillStyle = "white";
  pen.fillStyle = color.trim(); // the browser turns any colour it knows into #rrggbb; others leave it white
  const [red, green, blue] = pen.fillStyle.match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
