// The keys of a presentation. One listener, which the next call takes away again; outside a presentation there is none.

(data) => {
  window.stopPresenting?.();
  if (!data.on) return;

  function isBusy() {
    const focus = document.activeElement;
    const inControl = focus && !focus.matches(data.pageItself) && (focus.shadowRoot || focus.matches(data.control));
    return inControl || document.querySelector(data.open);
  }

  function find(selector) {
    const [outer, inner] = selector.split(" >>> ");
    if (!inner) return document.querySelector(outer);
    const hosts = [...document.querySelectorAll(`${outer} *`)].filter((node) => node.shadowRoot);
    return hosts.map((host) => host.shadowRoot.querySelector(inner)).find(Boolean);
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || isBusy()) return;
    const button = (data.keys[event.key] ?? []).map(find).find(Boolean);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  }

  addEventListener("keydown", press);
  window.stopPresenting = () => {
    removeEventListener("keydown", press);
    delete window.stopPresenting;
  };
}
