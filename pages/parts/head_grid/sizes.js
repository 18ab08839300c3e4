// How large everything is: numbers in, numbers out. Joined in front of head_grid.js, which draws with these sizes.
// Lengths are CSS pixels. A cell measures a whole number of device pixels, so that all cells come out equal.

const NARROW = 520; // below this the grid has two columns
const MAX_CELL = 44;
const MAX_MAP_HEIGHT = 320;
const MIN_MAP_HEIGHT = 44;
const MIN_TILE = 128; // room for the lines under a map
const MAX_GUTTER = 76; // room for row labels
const LABEL = { least: 10, most: 12 }; // font size
const COMPACT_MAP = { least: 30, most: 76, click: 24 };

// Sizes of the grid with labels. `measure(label, bold)` tells how wide a label is at the largest font size.
function fullSizes({ width, heads, rows, cols, measure }) {
  const gutter = Math.min(MAX_GUTTER, Math.ceil(Math.max(...rows.map((row) => measure(row, true))))) + 8;
  const gap = 14;
  const columns = width < NARROW ? Math.min(2, heads) : countColumns(width - gutter, heads, cols.length, gap);
  const share = (width - (columns - 1) * gap) / columns;
  // Row labels stand beside every map where there is room, otherwise beside the first map of each row.
  const everyLabelled = share - gutter >= Math.max(136, Math.min(240, 12 * cols.length));
  const room = everyLabelled ? share - gutter : (width - gutter - (columns - 1) * gap) / columns;

  let cellWidth = Math.min(MAX_CELL, room / cols.length);
  let cellHeight = Math.max(cellWidth, Math.min(1.6 * cellWidth, MIN_MAP_HEIGHT / rows.length));
  if (cellHeight * rows.length > MAX_MAP_HEIGHT) {
    cellHeight = MAX_MAP_HEIGHT / rows.length;
    cellWidth = Math.min(cellWidth, 1.6 * cellHeight);
  }
  cellWidth = wholePixels(cellWidth);
  cellHeight = wholePixels(cellHeight);

  // Where cells are small, labels are smaller, and then only every n-th is shown.
  const label = Math.max(LABEL.least, Math.min(LABEL.most, Math.floor(Math.min(cellWidth, cellHeight))));
  const widths = cols.map((text) => (measure(text) * label) / LABEL.most);
  const usual = widths.toSorted((a, b) => a - b)[Math.floor(cols.length / 2)];
  const rowStep = Math.ceil((0.85 * label) / cellHeight);
  const colStep = Math.ceil(Math.max(0.8 * label, Math.min(label, usual + 1.5)) / cellWidth);
  const shown = cols.map((_, i) => i).filter((i) => i % colStep === 0);
  const upright = standUp(cols, widths, shown, colStep * cellWidth, label);
  const tallest = Math.max(0, ...shown.map((i) => (upright[i] ? widths[i] : 0)));
  return {
    columns,
    everyLabelled,
    label,
    rowStep,
    colStep,
    upright,
    cellWidth,
    cellHeight,
    gap,
    gutter,
    tileWidth: Math.max(cellWidth * cols.length, Math.min(room, MIN_TILE)),
    labelsHeight: Math.min(66, Math.max(19, Math.ceil(tallest) + 8)),
  };
}

// Sizes of the overview: one row of tiny maps per section, its title on the left (above, where it is narrow).
function compactSizes({ width, heads, rows, cols, titles, measure }) {
  const titleWidth = Math.ceil(Math.max(...titles.map((title) => measure(title, true)))) + 18;
  const gap = 8;
  const share = (width - (width < NARROW ? 0 : titleWidth) - (heads - 1) * gap) / heads;
  const side = Math.min(COMPACT_MAP.most, Math.max(COMPACT_MAP.least, share));
  const cell = side / Math.max(cols.length, rows.length);
  return {
    columns: heads,
    cellWidth: wholePixels(Math.max(cell, COMPACT_MAP.click / cols.length)),
    cellHeight: wholePixels(Math.max(cell, COMPACT_MAP.click / rows.length)),
    gap,
    titleWidth,
  };
}

// Column labels that would run into a neighbour stand upright: of each such pair the wider one. A single letter
// never does.
function standUp(cols, widths, shown, room, label) {
  const single = cols.map((text) => [...text].length === 1);
  const upright = widths.map((width, i) => !single[i] && width > 1.6 * room);
  const space = (i) => (upright[i] ? label : widths[i]);
  for (let k = 1; k < shown.length; k++) {
    const [left, right] = [shown[k - 1], shown[k]];
    for (const wider of space(left) > space(right) ? [left, right] : [right, left]) {
      const crowded = (space(left) + space(right)) / 2 > room - 2;
      if (crowded && !single[wider]) upright[wider] = true;
    }
  }
  return upright;
}

// How many maps stand side by side: as many as are still legible, in rows of about equal length.
function countColumns(width, heads, cols, gap) {
  const least = heads > 8 ? Math.max(82, cols * 10) : Math.max(150, cols * 12);
  const most = heads > 8 || width > 1250 ? 8 : 4;
  const fit = Math.floor((width + gap) / (Math.min(300, least) + gap));
  const columns = Math.min(heads, most, Math.max(2, fit));
  for (let even = columns; even >= 0.7 * columns; even--) if (heads % even === 0) return even;
  return Math.ceil(heads / Math.ceil(heads / columns));
}

function wholePixels(length) {
  const ratio = window.devicePixelRatio || 1;
  return Math.max(1, Math.floor(length * ratio + 1e-6)) / ratio;
}
