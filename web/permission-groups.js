// permission-groups.js - the permissions in groups, in the order of the role editor.
import { PERMISSION_LABELS } from "./permission-labels.js";
import { PERMISSIONS } from "./permissions.js";
import { CATEGORY, STAGE, isVoice } from "./store.js";
import { t } from "./translate.js";

/** @type {[string, string, string[]][]} id, heading, permissions */
const GROUPS = [
  [
    "general",
    t("General server permissions"),
    [
      ...["VIEW_CHANNEL", "MANAGE_CHANNELS", "MANAGE_ROLES", "CREATE_EXPRESSIONS", "MANAGE_EXPRESSIONS"],
      ...["VIEW_AUDIT_LOG", "VIEW_GUILD_INSIGHTS", "MANAGE_WEBHOOKS", "MANAGE_GUILD"],
    ],
  ],
  [
    "members",
    t("Membership permissions"),
    [
      ...["CREATE_INSTANT_INVITE", "CHANGE_NICKNAME", "MANAGE_NICKNAMES", "KICK_MEMBERS", "BAN_MEMBERS"],
      "MODERATE_MEMBERS",
    ],
  ],
  [
    "text",
    t("Text channel permissions"),
    [
      ...["SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS", "CREATE_PUBLIC_THREADS", "CREATE_PRIVATE_THREADS"],
      ...["EMBED_LINKS", "ATTACH_FILES", "ADD_REACTIONS", "USE_EXTERNAL_EMOJIS", "USE_EXTERNAL_STICKERS"],
      ...["MENTION_EVERYONE", "MANAGE_MESSAGES", "PIN_MESSAGES", "BYPASS_SLOWMODE", "MANAGE_THREADS"],
      ...["READ_MESSAGE_HISTORY", "SEND_TTS_MESSAGES", "SEND_VOICE_MESSAGES", "SEND_POLLS"],
    ],
  ],
  [
    "voice",
    t("Voice channel permissions"),
    [
      ...["CONNECT", "SPEAK", "STREAM", "USE_SOUNDBOARD", "USE_EXTERNAL_SOUNDS", "USE_VAD", "PRIORITY_SPEAKER"],
      ...["MUTE_MEMBERS", "DEAFEN_MEMBERS", "MOVE_MEMBERS", "SET_VOICE_CHANNEL_STATUS"],
    ],
  ],
  ["stage", t("Stage channel permissions"), ["REQUEST_TO_SPEAK"]],
  ["apps", t("Apps permissions"), ["USE_APPLICATION_COMMANDS", "USE_EMBEDDED_ACTIVITIES", "USE_EXTERNAL_APPS"]],
  ["events", t("Events permissions"), ["CREATE_EVENTS", "MANAGE_EVENTS"]],
  ["advanced", t("Advanced permissions"), ["ADMINISTRATOR"]],
];
const grouped = new Set(GROUPS.flatMap(([, , names]) => names)),
  rest = Object.keys(PERMISSIONS).filter((name) => !grouped.has(name));

/** Returns all permissions of a role, in groups. @returns {[string, string[]][]} */
export const roleGroups = () => [
  .../** @type {[string, string[]][]} */ (GROUPS.map(([, heading, names]) => [heading, names])),
  ...(rest.length ? [/** @type {[string, string[]]} */ ([t("Other permissions"), rest])] : []),
];

const IN_CHANNELS = ["VIEW_CHANNEL", "MANAGE_CHANNELS", "MANAGE_ROLES", "MANAGE_WEBHOOKS", "CREATE_INSTANT_INVITE"];

/** Returns the permissions that an overwrite of this channel can have, in groups. @returns {[string, string[]][]} */
export function channelGroups(c) {
  const category = c.type === CATEGORY;
  const wanted = {
    text: true,
    voice: category || isVoice(c),
    stage: category || c.type === STAGE,
    apps: true,
    events: category || isVoice(c),
  };
  return [
    [t("General channel permissions"), IN_CHANNELS],
    .../** @type {[string, string[]][]} */ (
      GROUPS.filter(([id]) => wanted[id]).map(([, heading, names]) => [heading, names])
    ),
  ];
}

/** Returns true if the name or label of a permission contains the search text. */
export const matches = (name, text) =>
  !text ||
  PERMISSION_LABELS[name].toLowerCase().includes(text) ||
  name.toLowerCase().replaceAll("_", " ").includes(text);
