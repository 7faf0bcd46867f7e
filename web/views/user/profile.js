// profile.js - the settings page of the user's profile: name, texts, picture, banner, colour.
import { fill, h } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { avatar } from "../../images.js";
import { changedPictures, pictureRow } from "../../picture-field.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

const hex = (color) => `#${(color ?? 0x0c6e66).toString(16).padStart(6, "0")}`;

export async function profile(app, body) {
  const me = app.store.me,
    own = (await app.rest.get(`/users/${me.id}/profile`).catch(() => null))?.user_profile || {},
    head = h("div.profile-head");
  const drawHead = (user) =>
    fill(
      head,
      avatar(user, "", "large-avatar"),
      h("div", null, h("strong", null, user.global_name || user.username), h("p.faint", null, `@${user.username}`)),
    );
  const rows = [
    {
      name: "global_name",
      label: t("Display name"),
      value: me.global_name,
      hint: t("Shown instead of your username. Several people may have the same display name."),
      props: { maxlength: 32 },
    },
    { name: "pronouns", label: t("Pronouns"), value: own.pronouns, props: { maxlength: 40 } },
    {
      name: "bio",
      label: t("About me"),
      value: own.bio ?? me.bio,
      rows: 3,
      hint: t("Shown in your profile. At most 190 characters."),
      props: { maxlength: 190 },
    },
    pictureRow("avatar", t("Picture"), {
      width: 512,
      height: 512,
      round: true,
      current: me.avatar && `/avatars/${me.id}/${me.avatar}.png`,
      hint: t("Without a picture, a pattern made from your account is shown."),
    }),
    pictureRow("banner", t("Banner"), {
      width: 1200,
      height: 480,
      current: me.banner && `/banners/${me.id}/${me.banner}.png`,
      hint: t("Shown above your profile."),
    }),
    {
      name: "color",
      label: t("Profile colour"),
      type: "color",
      value: hex(me.accent_color),
      hint: t("Shown above your profile if it has no banner."),
    },
  ];
  drawHead(me);
  fill(
    body,
    section(
      null,
      head,
      quickForm(rows, t("Save"), async (v) => {
        const color = parseInt(v.color.slice(1), 16),
          changed = v.color !== hex(me.accent_color);
        if (v.pronouns !== (own.pronouns || ""))
          await app.rest.patch("/users/@me/profile", { pronouns: v.pronouns || null });
        drawHead(
          await app.rest.patch("/users/@me", {
            global_name: v.global_name || null,
            bio: v.bio,
            ...(changed ? { accent_color: color } : {}),
            ...changedPictures(v, "avatar", "banner"),
          }),
        );
      }),
    ),
  );
}
