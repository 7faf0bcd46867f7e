// main.js - the first script. The page to come in by is drawn by it alone, and the application comes behind the first paint.
import { fill, h } from "./dom.js";
import { mustComeIn } from "./entrance.js";
import { Rest } from "./rest.js";
import * as enter from "./views/enter.js";

const application = () => import("./app.js").then(({ app }) => app);

/** What comes later must not stand in the way of what is seen first. */
function afterPaint(work) {
  new PerformanceObserver((list, own) => {
    if (!list.getEntriesByName("first-contentful-paint").length) return;
    own.disconnect();
    work();
  }).observe({ type: "paint", buffered: true });
}

function drawEntrance() {
  let coming;
  const behind = () =>
    (coming ??= application().then((app) => {
      app.adopt(enter);
      return app;
    }));
  const page = h("div.page");
  fill(document.getElementById("app"), page);
  enter.mount(
    {
      rest: new Rest(),
      signIn: async (token) => (await behind()).signIn(token),
      entered: async (answer) => (await behind()).entered(answer),
      tryCall: async (promise) => {
        promise.catch(() => {});
        return (await behind()).tryCall(promise);
      }, // a failure waits for who says it
    },
    page,
  );
  afterPaint(behind);
}

if (mustComeIn(sessionStorage.getItem("token"))) drawEntrance();
else application().then((app) => app.start());
