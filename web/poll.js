// poll.js - a poll in a message: its answers with votes and percentages, and the time of its end.
import { h } from "./dom.js";
import { emoji, relative } from "./markdown.js";
import { t } from "./translate.js";

/** The answers of a poll with their votes. A click votes for an answer, a second click removes the vote. */
export function poll(app, channel, m) {
  const { answers = [], question, results, allow_multiselect: many, expiry } = m.poll;
  const counts = new Map((results?.answer_counts || []).map((a) => [a.id, a])),
    countOf = (a) => counts.get(a.answer_id)?.count || 0;
  const over = results?.is_finalized || (expiry && Date.parse(expiry) < Date.now());
  const mine = answers.filter((a) => counts.get(a.answer_id)?.me_voted).map((a) => a.answer_id),
    total = answers.reduce((sum, a) => sum + countOf(a), 0);
  const most = Math.max(...answers.map(countOf), 1);
  const vote = (id) => {
    const had = mine.includes(id),
      next = many ? (had ? mine.filter((x) => x !== id) : [...mine, id]) : had ? [] : [id];
    return app.tryCall(app.rest.put(`/channels/${channel.id}/polls/${m.id}/answers/@me`, { answer_ids: next }));
  };
  const end = async () => {
    if (await app.confirm(t("End poll"), t("Nobody can vote after the poll has ended."), t("End poll")))
      app.tryCall(app.rest.post(`/channels/${channel.id}/polls/${m.id}/expire`));
  };
  const answer = (a) => {
    const percent = total ? Math.round((100 * countOf(a)) / total) : 0;
    return h(
      "button.poll-answer",
      {
        type: "button",
        disabled: over,
        class: over && countOf(a) === most ? "winner" : "",
        style: { "--share": `${percent}%` },
        "aria-pressed": String(mine.includes(a.answer_id)),
        onclick: () => vote(a.answer_id),
      },
      h(
        "span",
        null,
        a.poll_media?.emoji && emoji(a.poll_media.emoji.name, a.poll_media.emoji.id),
        " ",
        a.poll_media?.text,
      ),
      h("span.faint", null, `${countOf(a)} · ${percent} %`),
    );
  };
  return h(
    "div.poll",
    { role: "group", "aria-label": question?.text },
    h("strong", null, question?.text),
    answers.map(answer),
    h(
      "small.faint.poll-foot",
      null,
      h("span", null, t("{n} vote|{n} votes", { n: total })),
      h(
        "span",
        null,
        over ? t("The poll is over") : many ? t("Several answers may be chosen") : t("One answer may be chosen"),
      ),
      !over && expiry && h("span", null, t("Ends {time}", { time: relative(new Date(expiry)) })),
      !over && m.author.id === app.store.me.id && h("button.link", { type: "button", onclick: end }, t("End poll")),
    ),
  );
}
