// appearance.js - the settings page of the theme and the languages.
import { fill, h } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { currentTheme, setTheme } from "../../theme.js";
import { currentLanguage, languages, setLanguage, t } from "../../translate.js";
import { section } from "../server/shared.js";

export function appearance(app, body) {
  const themes = [
    ["", t("Same as the system")],
    ["dark", t("Dark")],
    ["light", t("Light")],
  ];
  const choice = h(
    "select",
    {
      "aria-label": t("Language of the web client"),
      onchange: () => {
        setLanguage(choice.value);
        location.reload();
      },
    },
    Object.entries(languages).map(([code, name]) =>
      h("option", { value: code, selected: code === currentLanguage() }, name),
    ),
  );
  fill(
    body,
    section(
      null,
      h(
        "fieldset.choices",
        null,
        h("legend", null, t("Theme")),
        themes.map(([value, words]) =>
          h(
            "label.choice",
            null,
            h("input", {
              type: "radio",
              name: "theme",
              value,
              checked: value === currentTheme(),
              onchange: () => setTheme(value),
            }),
            words,
          ),
        ),
      ),
    ),
    section(t("Language"), choice),
    section(
      t("Language for apps"),
      quickForm(
        [
          {
            name: "locale",
            label: t("Locale"),
            value: app.store.settings.locale || "en-US",
            hint: t("Apps show their commands in this language, for example de, fr or sv-SE."),
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...app.store.settings, ...(await app.rest.patch("/users/@me/settings", v)) };
          app.commands.cache.clear();
        },
      ),
    ),
  );
}
