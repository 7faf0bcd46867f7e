// store-people-events.js - handles gateway events of presence, friends, voice, calls and settings. `this` is the store.
import { memberChanged } from "./store-guild-events.js";

function relationshipChanged(d) {
  if (d.user) this.keepUser(d.user);
  this.relationships.set(d.id, { ...this.relationships.get(d.id), ...d });
  this.touch("friends");
}

function voiceEvent(d, type) {
  this.onvoice?.(type, d);
}

function callChanged(d) {
  const voice_states = d.voice_states || [];
  voice_states.forEach((v) => this.voice.set(v.user_id, { ...v, channel_id: d.channel_id }));
  this.calls.set(d.channel_id, { ringing: [], ...this.calls.get(d.channel_id), ...d });
  this.touch("calls", "voice");
}

export const PEOPLE_HANDLERS = {
  VOICE_STATE_UPDATE(d) {
    if (d.member) memberChanged.call(this, { ...d.member, guild_id: d.guild_id });
    if (d.channel_id) this.voice.set(d.user_id, d);
    else this.voice.delete(d.user_id);
    this.touch("voice");
  },
  VOICE_SERVER_UPDATE: voiceEvent,
  STREAM_CREATE: voiceEvent,
  STREAM_SERVER_UPDATE: voiceEvent,
  STREAM_DELETE: voiceEvent,
  CALL_CREATE: callChanged,
  CALL_UPDATE: callChanged,
  CALL_DELETE(d) {
    this.calls.delete(d.channel_id);
    this.touch("calls");
  },
  STAGE_INSTANCE_CREATE(d) {
    this.stages.set(d.channel_id, d);
    this.touch("voice");
  },
  STAGE_INSTANCE_UPDATE(d) {
    this.stages.set(d.channel_id, d);
    this.touch("voice");
  },
  STAGE_INSTANCE_DELETE(d) {
    this.stages.delete(d.channel_id);
    this.touch("voice");
  },
  VOICE_CHANNEL_EFFECT_SEND(d, type) {
    this.effect = d;
    this.onvoice?.(type, d);
    this.touch("effects");
  },
  PRESENCE_UPDATE(d) {
    this.keepUser(d.user.username ? d.user : null);
    this.presences.set(d.user.id, d);
    this.touch("presence");
  },
  USER_UPDATE(d) {
    this.me = this.keepUser(d);
    this.touch("me", "members");
  },
  USER_SETTINGS_UPDATE(d) {
    Object.assign(this.settings, d);
    this.touch("me");
  },
  USER_NOTE_UPDATE(d) {
    this.notes[d.id] = d.note;
    this.touch("notes");
  },
  SAVED_MESSAGE_CREATE(d) {
    this.saved?.add(d.save_data.message_id);
  },
  SAVED_MESSAGE_DELETE(d) {
    this.saved?.delete(d.message_id);
  },
  RELATIONSHIP_ADD: relationshipChanged,
  RELATIONSHIP_UPDATE: relationshipChanged,
  RELATIONSHIP_REMOVE(d) {
    this.relationships.delete(d.id);
    this.touch("friends");
  },
  GAME_RELATIONSHIP_ADD(d) {
    this.games = [...this.games.filter((g) => g.id !== d.id || g.application_id !== d.application_id), d];
    this.touch("friends");
  },
  GAME_RELATIONSHIP_REMOVE(d) {
    this.games = this.games.filter((g) => g.id !== d.id || g.application_id !== d.application_id);
    this.touch("friends");
  },
  FRIEND_SUGGESTION_CREATE() {
    this.suggestionCount++;
    this.touch("friends");
  },
  FRIEND_SUGGESTION_DELETE() {
    this.suggestionCount = Math.max(0, this.suggestionCount - 1);
    this.touch("friends");
  },
};
