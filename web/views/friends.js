// friends.js - friends, friend requests, suggestions, blocked users, game friends.
import { dialog, field, fill, h, refill } from "../dom.js";
import { below, menu } from "../menu.js";
import { icon, iconButton } from "../icons.js";
import { firstSteps } from "../first-steps.js";
import { avatar } from "../images.js";
import { STATUS_WORDS } from "../status.js";
import { t } from "../translate.js";
import { BLOCKED, FRIEND, INCOMING, OUTGOING, friendActions } from "./friend-actions.js";
import { emptyTab } from "./friends-empty.js";

const TABS = [
  ["online", t("Online")],
  ["all", t("All")],
  ["pending", t("Pending")],
  ["suggestions", t("Suggestions")],
  ["games", t("Games")],
  ["blocked", t("Blocked")],
  ["ignored", t("Ignored")],
];

/** Labels of game relationships by relationship type. */
const GAME_WORDS = {
  [FRIEND]: t("friend"),
  [INCOMING]: t("wants to be friends"),
  [OUTGOING]: t("friend request sent"),
};

export function friendsPage(app, main, burger) {
  const { store, rest } = app;
  let tab = "all",
    suggestions = [],
    requests = 0;
  const gameNames = new Map();
  const body = h("div.friends", { role: "tabpanel", "aria-label": t("Friends") }),
    tabs = h("div.tabs.inline", { role: "tablist", "aria-label": t("Friends") });
  const steps = h("div");
  const online = (id) => ["online", "idle", "dnd"].includes(store.presences.get(id)?.status);
  const { buttons, path } = friendActions(app);

  const lists = {
    online: (r) => r.type === FRIEND && online(r.id),
    all: (r) => r.type === FRIEND,
    pending: (r) => r.type === INCOMING || r.type === OUTGOING,
    blocked: (r) => r.type === BLOCKED,
    ignored: (r) => r.user_ignored,
  };

  function drawTabs() {
    const asks = [...store.relationships.values()].filter((r) => r.type === INCOMING).length;
    refill(
      tabs,
      TABS.map(([id, words]) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            dataset: { key: id },
            "aria-selected": String(id === tab),
            onclick: () => {
              tab = id;
              draw();
              if (id === "suggestions") loadSuggestions();
            },
          },
          words,
          id === "pending" && asks > 0 && h("span.badge", null, asks),
        ),
      ),
    );
  }

  const person = (user, words, actions) =>
    h(
      "li.person",
      null,
      h(
        "button.plain.person-name",
        { type: "button", onclick: (e) => app.showProfile(user.id, e.currentTarget) },
        avatar(user, store.nameOf(user.id), "avatar"),
        h("span.clip", null, h("strong", null, store.nameOf(user.id)), h("small.faint", null, words)),
      ),
      h("div.person-actions", null, actions),
    );

  function words(r) {
    const status = store.presences.get(r.id)?.status || "offline";
    return (
      { [INCOMING]: t("wants to be your friend"), [OUTGOING]: t("has not answered yet"), [BLOCKED]: t("blocked") }[
        r.type
      ] || `@${r.user?.username} · ${STATUS_WORDS[status] || status}`
    );
  }

  async function loadSuggestions() {
    const request = ++requests,
      found = await rest.get("/friend-suggestions").catch(() => []);
    if (request !== requests) return;
    suggestions = found;
    if (tab === "suggestions") draw();
  }

  /** Requests the name of a game, because a game relationship contains only the game's id. */
  function gameName(id) {
    if (!gameNames.has(id)) {
      gameNames.set(id, null);
      rest.get(`/applications/${id}/public`).then(
        (a) => {
          gameNames.set(id, a.name);
          draw();
        },
        () => {},
      );
    }
    return gameNames.get(id) || t("the game {id}", { id });
  }

  function draw() {
    drawTabs();
    let rows;
    if (tab === "suggestions") {
      rows = suggestions.map((s) =>
        person(
          store.keepUser(s.suggested_user),
          t("{n} friend in common|{n} friends in common", { n: s.mutual_friends_count || 0 }),
          [
            h(
              "button.button.primary",
              {
                type: "button",
                onclick: async () => {
                  await app.tryCall(rest.put(path(s.suggested_user.id), { from_friend_suggestion: true }));
                  loadSuggestions();
                },
              },
              t("Send request"),
            ),
            h(
              "button.button.secondary",
              {
                type: "button",
                onclick: async () => {
                  await app.tryCall(rest.delete(`/friend-suggestions/${s.suggested_user.id}`));
                  loadSuggestions();
                },
              },
              t("Dismiss"),
            ),
          ],
        ),
      );
    } else if (tab === "games") {
      rows = store.games.map((g) =>
        person(
          store.keepUser(g.user) || { id: g.id },
          [t("in {game}", { game: gameName(g.application_id) }), GAME_WORDS[g.type]].filter(Boolean).join(" · "),
          [
            g.type === INCOMING &&
              h(
                "button.button.success",
                {
                  type: "button",
                  onclick: () => app.tryCall(rest.put(`/users/@me/game-relationships/${g.id}/${g.application_id}`, {})),
                },
                t("Accept"),
              ),
            h(
              "button.button.secondary",
              {
                type: "button",
                onclick: () => app.tryCall(rest.delete(`/users/@me/game-relationships/${g.id}/${g.application_id}`)),
              },
              t("Remove"),
            ),
          ],
        ),
      );
    } else {
      rows = [...store.relationships.values()]
        .filter(lists[tab])
        .sort((a, b) => (store.nameOf(a.id) < store.nameOf(b.id) ? -1 : 1))
        .map((r) => person(r.user || store.user(r.id) || { id: r.id }, words(r), buttons(r)));
    }
    refill(body, rows.length ? h("ul.people", null, rows) : emptyTab(tab, main));
  }

  /** If the user is in no server (guild), shows how to create or join one. */
  const drawSteps = () => refill(steps, store.guilds.size === 0 && firstSteps(app));

  function addForm() {
    const name = field(t("Add friend"), h("input", { autocomplete: "off", placeholder: t("Username") }));
    return h(
      "form.add-friend",
      {
        novalidate: true,
        onsubmit: async (e) => {
          e.preventDefault();
          name.problem("");
          try {
            await rest.post("/users/@me/relationships", { username: name.control.value.trim() });
            name.control.value = "";
            tab = "pending";
            draw();
          } catch (refusal) {
            name.problem(refusal.at("username") || refusal.message);
          }
        },
      },
      name,
      h("button.button.primary", { type: "submit" }, t("Send request")),
    );
  }

  fill(
    main,
    h("header.main-head", null, burger(), icon("people"), h("h1", null, t("Friends")), tabs),
    h("div.scroller.pad", { tabindex: 0, role: "region", "aria-label": t("Friends") }, steps, addForm(), body),
  );
  draw();
  drawSteps();
  loadSuggestions();
  const off = [store.on("friends", draw), store.on("presence", draw), store.on("guilds", drawSteps)];
  return () => off.forEach((f) => f());
}
