// quick-switcher.js - the quick switcher (Ctrl+K).
import { dialog, h } from "../dom.js";
import { CATEGORY } from "../store.js";
import { suggest } from "../autocomplete.js";
import { t } from "../translate.js";

export function jump(app) {
  const { store } = app;
  if (!store.ready || document.querySelector("dialog")) return;
  const targets = [
    ...[...store.channels.values()]
      .filter((c) => c.type !== CATEGORY)
      .map((c) => ({
        label: `${c.guild_id ? "#" : "@"}${store.nameOfChannel(c)}`,
        detail: store.guildOf(c)?.name || "",
        path: `/channels/${c.guild_id || "@me"}/${c.id}`,
      })),
    ...[...store.guilds.values()].map((g) => ({ label: g.name, detail: t("Server"), path: `/channels/${g.id}` })),
    ...[
      [t("Friends"), "/friends"],
      [t("Settings"), "/settings"],
      [t("Workbench"), "/workbench"],
    ].map(([label, path]) => ({ label: label, detail: "", path })),
  ];
  dialog(t("Jump to…"), (close) => {
    const input = h("input", { type: "search", "aria-label": t("Jump to…"), autocomplete: "off", autofocus: true });
    const found = suggest(input, {
      label: t("Jump to…"),
      lasting: true,
      find: () => {
        const words = input.value.toLowerCase().replace(/^[#@]/, "");
        return targets
          .filter((p) => p.label.toLowerCase().includes(words))
          .sort((a, b) => a.label.length - b.label.length)
          .slice(0, 12);
      },
      row: (p) => [h("span.suggestion-main", null, h("strong", null, p.label)), h("span.faint", null, p.detail)],
      choose: (p) => {
        close();
        app.go(p.path);
      },
    });
    setTimeout(() => found.update());
    return h("div.jump-box", null, input, found.list);
  });
}
