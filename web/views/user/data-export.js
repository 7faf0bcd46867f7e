// data-export.js - requests and downloads a copy of all data of the user.
import { fill, h } from "../../dom.js";
import { small } from "../../forms.js";
import { fileSize } from "../../images.js";
import { locale, t } from "../../translate.js";

const PATH = "/users/@me/harvest",
  READY = 2,
  POLL_MS = 2000;
const day = new Intl.DateTimeFormat(locale, { dateStyle: "long" });

export function dataExport(app) {
  const el = h("div.stack", { role: "status" });
  let timer;
  const failed = (e) =>
    fill(
      el,
      h("p.field-error", { role: "alert" }, t("The export failed: {reason}", { reason: e.words || e.message })),
      h("div", null, small(t("Try again"), load)),
    );
  async function load() {
    clearTimeout(timer);
    try {
      draw(await app.rest.get(PATH));
    } catch (e) {
      if (e.status === 404) draw(null);
      else failed(e);
    }
  }
  const request = () => app.rest.post(PATH, {}).then(draw, failed);
  async function download(x) {
    try {
      const answer = await fetch(`/api/v10${PATH}/${x.harvest_id}`, { headers: { Authorization: app.rest.token } });
      if (!answer.ok) throw new Error(t("The server answered {status}", { status: answer.status }));
      const url = URL.createObjectURL(await answer.blob());
      h("a", { href: url, download: "guildhall-data.tar" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60000);
    } catch (e) {
      failed(e);
    }
  }
  function draw(x) {
    const running = x && x.status !== READY;
    if (running) timer = setTimeout(() => el.isConnected && load(), POLL_MS);
    fill(
      el,
      h(
        "p.hint",
        null,
        !x
          ? t("The export contains your profile, messages, settings and files.")
          : running
            ? t("The server collects your data. This can take a few minutes.")
            : t("The export is ready ({size}). It can be downloaded until {time}.", {
                size: fileSize(x.bytes || 0),
                time: day.format(new Date(x.expires_at)),
              }),
      ),
      h(
        "div",
        null,
        !x ? small(t("Request my data"), request) : !running && small(t("Download"), () => download(x), "primary"),
      ),
    );
  }
  load();
  return el;
}
