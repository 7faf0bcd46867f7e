// store-server.js - handles gateway events about bans, invites and the like: tells the views that request those lists.

/** @param {...string} topics */
const changed = (...topics) =>
  /** @this {any} */ function () {
    this.touch(...topics);
  };

/** The handlers of gateway events; `this` is the store. */
export const SERVER_HANDLERS = {
  GUILD_BAN_ADD: changed("bans"),
  GUILD_BAN_REMOVE: changed("bans"),
  INVITE_CREATE: changed("invites"),
  INVITE_DELETE: changed("invites"),
  WEBHOOKS_UPDATE: changed("webhooks"),
  GUILD_INTEGRATIONS_UPDATE: changed("integrations"),
  INTEGRATION_CREATE: changed("integrations"),
  INTEGRATION_UPDATE: changed("integrations"),
  INTEGRATION_DELETE: changed("integrations"),
  APPLICATION_COMMAND_PERMISSIONS_UPDATE: changed("commands"),
  /** @this {any} */
  GUILD_STICKERS_UPDATE(d) {
    const guild = this.guilds.get(d.guild_id);
    if (guild) guild.stickers = d.stickers;
    this.touch("guilds", "stickers");
  },
  GUILD_SOUNDBOARD_SOUND_CREATE: changed("sounds"),
  GUILD_SOUNDBOARD_SOUND_UPDATE: changed("sounds"),
  GUILD_SOUNDBOARD_SOUNDS_UPDATE: changed("sounds"),
  GUILD_SOUNDBOARD_SOUND_DELETE: changed("sounds"),
  GUILD_SCHEDULED_EVENT_CREATE: changed("scheduled"),
  GUILD_SCHEDULED_EVENT_UPDATE: changed("scheduled"),
  GUILD_SCHEDULED_EVENT_DELETE: changed("scheduled"),
  GUILD_SCHEDULED_EVENT_USER_ADD: changed("scheduled"),
  GUILD_SCHEDULED_EVENT_USER_REMOVE: changed("scheduled"),
  AUTO_MODERATION_RULE_CREATE: changed("rules"),
  AUTO_MODERATION_RULE_UPDATE: changed("rules"),
  AUTO_MODERATION_RULE_DELETE: changed("rules"),
  GUILD_AUDIT_LOG_ENTRY_CREATE: changed("audit"),
};
