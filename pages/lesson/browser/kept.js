// Keeps the answers in this browser: read once at the start, written at each change, removed when they are cleared.
//
// Where storage throws (a private window, a full disk, a setting) Python is told, and the session alone keeps them.

const KEY = "attention-lesson";

export default function ({ data, setStateValue }) {
  try {
    if (!data.read) {
      setStateValue("stored", { text: localStorage.getItem(KEY) ?? "", refused: false });
    } else if (data.kept) {
      localStorage.setItem(KEY, data.kept);
    } else {
      localStorage.removeItem(KEY);
    }
  } catch {
    if (!data.refused) setStateValue("stored", { text: "", refused: true });
  }
}
