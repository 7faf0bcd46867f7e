// embed.js - renders an embed of a message.
import { h } from "./dom.js";
import { picture } from "./images.js";
import { inline, markdown } from "./markdown.js";
import { locale, t } from "./translate.js";

const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" });

function safeLink(url, children, kind) {
  return /^https?:\/\//.test(url || "")
    ? h(`a${kind || ""}`, { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, children)
    : h(`span${kind || ""}`, null, children);
}

/** Renders an embed. @param {any} e an embed, with any of its fields */
export function embed(e, context) {
  const color = e.color != null ? { "--accent-color": `#${e.color.toString(16).padStart(6, "0")}` } : null;
  return h(
    "div.embed",
    { style: color },
    h(
      "div.embed-main",
      null,
      e.provider?.name && h("div.embed-provider", null, e.provider.name),
      e.author &&
        h(
          "div.embed-author",
          null,
          picture({ url: e.author.icon_url, proxy_url: e.author.proxy_icon_url }, "tiny-picture"),
          safeLink(e.author.url, e.author.name),
        ),
      e.title && h("div.embed-title", null, safeLink(e.url, inline(e.title, context))),
      e.description && h("div.embed-text", null, markdown(e.description, context)),
      e.fields?.length &&
        h(
          "dl.embed-fields",
          null,
          e.fields.map((f) =>
            h(
              "div",
              { class: f.inline ? "inline" : "" },
              h("dt", null, inline(f.name, context)),
              h("dd", null, markdown(f.value, context)),
            ),
          ),
        ),
      e.image && picture(e.image, "embed-picture"),
      e.video && safeLink(e.video.url, t("Video")),
      (e.footer || e.timestamp) &&
        h(
          "div.embed-foot",
          null,
          e.footer && picture({ url: e.footer.icon_url, proxy_url: e.footer.proxy_icon_url }, "tiny-picture"),
          e.footer?.text,
          e.footer?.text && e.timestamp && " · ",
          e.timestamp && full.format(new Date(e.timestamp)),
        ),
    ),
    e.thumbnail && picture(e.thumbnail, "thumbnail"),
  );
}
