import { bytes } from "./api";

const site = "https://ui.perfetto.dev";

/** openInPerfetto hands a recording to Perfetto's page by the protocol that it
 * documents: PING until PONG, then the buffer. The recording stays in the
 * browser. It needs the network; the page's own timeline does not. */
export async function openInPerfetto(path: string, say: (text: string) => void): Promise<void> {
  // Opened before anything is waited for: browsers allow that at a click only.
  const tab = window.open(site);
  if (!tab) {
    say("the browser did not open a tab for Perfetto; allow pop-ups for this page");
    return;
  }
  say("Perfetto: reading the recording");
  const buffer = await bytes("perfetto", { path });
  if (!(await answers(tab))) {
    say("Perfetto does not answer: it needs the network. This timeline works without.");
    return;
  }
  tab.postMessage({ perfetto: { buffer, title: "schedlab " + path } }, site);
  say("Perfetto has the recording");
}

function answers(tab: Window): Promise<boolean> {
  return new Promise((done) => {
    let left = 200; // times 50 ms
    const heard = (e: MessageEvent) => {
      if (e.origin === site && e.data === "PONG") finish(true);
    };
    const timer = setInterval(() => {
      if (--left === 0) finish(false);
      else tab.postMessage("PING", site);
    }, 50);
    const finish = (ok: boolean) => {
      clearInterval(timer);
      window.removeEventListener("message", heard);
      done(ok);
    };
    window.addEventListener("message", heard);
  });
}
