// store-message-events.js - handles gateway events of messages, typing and interactions. `this` is the store.
import { memberChanged } from "./store-guild-events.js";

function outcome(d, type) {
  const waiting = this.interactions.get(String(d.nonce));
  if (!waiting) return;
  waiting(type, d);
  if (type !== "INTERACTION_CREATE") this.interactions.delete(String(d.nonce));
}

export const MESSAGE_HANDLERS = {
  MESSAGE_CREATE(d) {
    this.addMessage(d);
  },
  MESSAGE_UPDATE(d) {
    this.changeMessage(d.channel_id, d.id, (m) => ({ ...m, ...d }));
  },
  MESSAGE_DELETE(d) {
    this.changeMessage(d.channel_id, d.id, () => null);
  },
  MESSAGE_DELETE_BULK(d) {
    d.ids.forEach((id) => this.changeMessage(d.channel_id, id, () => null));
  },
  MESSAGE_REACTION_ADD(d) {
    this.react(d, 1);
  },
  MESSAGE_REACTION_REMOVE(d) {
    this.react(d, -1);
  },
  MESSAGE_REACTION_REMOVE_ALL(d) {
    this.changeMessage(d.channel_id, d.message_id, (m) => ({ ...m, reactions: [] }));
  },
  MESSAGE_REACTION_REMOVE_EMOJI(d) {
    this.changeMessage(d.channel_id, d.message_id, (m) => ({
      ...m,
      reactions: (m.reactions || []).filter((r) =>
        d.emoji.id ? r.emoji.id !== d.emoji.id : r.emoji.name !== d.emoji.name,
      ),
    }));
  },
  MESSAGE_ACK(d) {
    this.takeAck(d);
  },
  USER_GUILD_SETTINGS_UPDATE(d) {
    this.takeGuildSettings([d]);
  },
  MESSAGE_POLL_VOTE_ADD(d) {
    this.vote(d, 1);
  },
  MESSAGE_POLL_VOTE_REMOVE(d) {
    this.vote(d, -1);
  },
  TYPING_START(d) {
    if (d.user_id === this.me.id) return;
    if (d.member) memberChanged.call(this, { ...d.member, guild_id: d.guild_id });
    if (!this.typing.has(d.channel_id)) this.typing.set(d.channel_id, new Map());
    this.typing.get(d.channel_id).set(d.user_id, Date.now() + 10000);
    this.touch("typing");
    setTimeout(() => this.touch("typing"), 10100);
  },
  INTERACTION_CREATE: outcome,
  INTERACTION_SUCCESS: outcome,
  INTERACTION_FAILURE: outcome,
  INTERACTION_MODAL_CREATE(d, type) {
    this.onmodal?.(d);
    outcome.call(this, d, type);
  },
  APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: outcome,
};
