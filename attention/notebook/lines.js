// A head as lines: what may be looked at stands above (keys), what looks stands below (queries), and a line is as thick
// as its weight. The lit "cell" is a single token, { row } or { col }, and only its lines stay.
// The same things as in squares.js. Joined in front of head_grid.js.

const FAINTEST = 0.01; // thinner lines are not drawn, and of many tokens only the thickest
const faintest = (grid) => Math.max(FAINTEST, grid.data.rows.length / 2000);
const THICKEST = 14; // CSS pixels

const lines = {
  sizes: lineSizes,

  paint(grid) {
    if (!grid.sizes) return; // in a closed tab or expander
    for (const tile of grid.tiles) drawLines(grid, tile);
  },

  // The nearest token: above in the upper half, below in the lower one.
  cellAt(grid, tile, event) {
    if (!event.target.closest(".cols, .middle")) return null;
    const box = tile.parts.map.getBoundingClientRect();
    const [name, all] = event.clientY < box.top + box.height / 2 ? ["col", "cols"] : ["row", "rows"];
    const { length } = grid.data[all];
    return { [name]: within(Math.floor(((event.clientX - box.left) / box.width) * length), length), tile };
  },

  // The token beside the lit one, or, up and down, the one across from it.
  next(grid, cell, down, right) {
    const count = { row: grid.data.rows.length, col: grid.data.cols.length };
    const name = cell?.row === undefined ? "col" : "row";
    const at = cell ? cell[name] : -right;
    if (right) return { [name]: within(at + right, count[name]) };
    const other = down > 0 ? "row" : "col";
    return { [other]: within(Math.round(((at + 0.5) * count[other]) / count[name] - 0.5), count[other]) };
  },

  light(grid) {
    lines.paint(grid);
  },

  // The token that most of the lit one's lines go to or come from.
  valueAt(grid, tile, cell) {
    const [first] = partners(grid, tile, cell);
    return first ? `${first.label} ${first.weight.toFixed(2)}` : "–";
  },

  told(grid, cell) {
    const { words } = grid.data;
    const parts = [cell.row === undefined ? grid.named("col", cell.col) : grid.named("row", cell.row)];
    if (!cell.tile) return parts;
    const strongest = partners(grid, cell.tile, cell).slice(0, 3);
    const found = strongest.flatMap(({ label, weight }) => [["token", label], ["number", weight.toFixed(3)]]);
    parts.push([["name", cell.tile.name], ...(found.length ? found : [["closed", words.no_keys]])]);
    return parts;
  },
};

// What the lit token is joined with in a head, the strongest first.
function partners(grid, tile, { row, col }) {
  const { rows, cols } = grid.data;
  const found = (row === undefined ? rows : cols).map((label, i) => {
    const [r, c] = row === undefined ? [i, col] : [row, i];
    return { label, weight: openWeight(grid, tile, r, c) };
  });
  return found.filter(({ weight }) => weight >= FAINTEST).sort((a, b) => b.weight - a.weight);
}

function openWeight(grid, tile, row, col) {
  return grid.isOpen(tile.offset, grid.place(row, col)) ? grid.weightAt(tile, row, col) : 0;
}

function drawLines(grid, tile) {
  const { rows, cols } = grid.data;
  const { mapWidth, mapHeight } = grid.sizes;
  const { canvas } = tile.parts;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(mapWidth * ratio); // setting it clears the canvas
  canvas.height = Math.round(mapHeight * ratio);
  const ink = canvas.getContext("2d");
  ink.scale(ratio, ratio);
  ink.strokeStyle = grid.color;
  ink.globalAlpha = 0.72;
  const { row: onlyRow, col: onlyCol } = grid.cell ?? {};
  const least = faintest(grid);
  const thickest = Math.min(THICKEST, mapWidth / Math.max(rows.length, cols.length));
  for (let row = 0; row < rows.length; row++) {
    if (onlyRow !== undefined && row !== onlyRow) continue;
    const from = ((row + 0.5) * mapWidth) / rows.length;
    for (let col = 0; col < cols.length; col++) {
      if (onlyCol !== undefined && col !== onlyCol) continue;
      const weight = openWeight(grid, tile, row, col);
      if (weight < least) continue;
      const to = ((col + 0.5) * mapWidth) / cols.length;
      ink.lineWidth = weight * thickest;
      ink.beginPath();
      ink.moveTo(from, mapHeight);
      ink.bezierCurveTo(from, 0.45 * mapHeight, to, 0.55 * mapHeight, to, 0);
      ink.stroke();
    }
  }
}
