// main.js - the first script: draws the login page at once and loads the application after the first paint.
import "./theme.js";
import { fill, h } from "./dom.js";
import { currentToken, mustComeIn } from "./accounts.js";
import { Rest } from "./rest.js";
import * as enter from "./views/login.js";

const application = () => import("./app.js").then(({ app }) => app);

/** Runs a function after the first paint. */
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
    (coming ??= application().then(
      (app) => {
        app.adopt(enter);
        return app;
      },
      (failure) => {
        coming = undefined; // so that the next call tries to load it again
        throw failure;
      },
    ));
  const page = h("div.page");
  fill(document.getElementById("app"), page);
  enter.mount(
    {
      rest: new Rest(),
      signIn: async (token, how) => (await behind()).signIn(token, how),
      entered: async (answer, how) => (await behind()).entered(answer, how),
      tryCall: async (promise) => {
        promise.catch(() => {});
        return (await behind()).tryCall(promise);
      }, // app.tryCall shows this error once app.js is loaded
    },
    page,
  );
  afterPaint(() => behind().catch(() => {})); // if loading fails here, the next call of behind() reports it
}

if (mustComeIn(currentToken())) drawEntrance();
else application().then((app) => app.start());
