// Keeps the answers in this browser: read once at the start, written at each change, removed when they are cleared.
//
// In a class it keeps a name for itself as well, so that it has one vote; clearing leaves that.
// Where storage throws (a private window, a full disk, a setting) Python is told, and the session alone keeps them.

const KEY = "attention-lesson";
const NAME = "attention-lesson-browser";

export default function ({ data: [data], setStateValue }) {
  try {
    if (!data.read) {
      const [text, name] = [KEY, NAME].map((key) => localStorage.getItem(key) ?? "");
      setStateValue("stored", { text, name, refused: false });
      return;
    }
    if (data.name) localStorage.setItem(NAME, data.name);
    if (data.kept) localStorage.setItem(KEY, data.kept);
    else localStorage.removeItem(KEY);
  } catch {
    if (!data.refused) setStateValue("stored", { text: "", name: "", refused: true });
  }
}
