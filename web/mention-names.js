// mention-names.js - converts names of users, roles, channels and emoji in the message field to ids, and back.

export class MentionNames {
  /** Starts without names. @param {any} store @param {any} guild */
  constructor(store, guild) {
    this.store = store;
    this.guild = guild;
    /** The text that is sent for each name in the message field, such as "<@1>". @type {Map<string, string>} */
    this.codes = new Map();
  }

  /**
   * Registers a name for the code that is sent instead of it. If the name already stands for another code, registers
   * the name `other` instead. Returns the registered name.
   */
  name(text, code, other) {
    const free = !this.codes.has(text) || this.codes.get(text) === code;
    const chosen = free ? text : other;
    this.codes.set(chosen, code);
    return chosen;
  }

  user(user) {
    return this.name(`@${this.store.nameOf(user.id, this.guild)}`, `<@${user.id}>`, `@${user.username}`);
  }
  role(role) {
    return this.name(`@${role.name.replace(/^@/, "")}`, `<@&${role.id}>`, `@${role.name}-${role.id.slice(-4)}`);
  }
  channel(channel) {
    const other = `#${channel.name}-${channel.id.slice(-4)}`;
    return this.name(`#${channel.name}`, `<#${channel.id}>`, other);
  }
  emoji(e) {
    return e.id
      ? this.name(`:${e.name}:`, `<${e.animated ? "a" : ""}:${e.name}:${e.id}>`, `:${e.name}~${e.id}:`)
      : e.name;
  }

  /** Replaces names by their codes, before a message is sent. @param {string} text */
  encode(text) {
    const names = [...this.codes.keys()].sort((a, b) => b.length - a.length);
    if (!names.length) return text;
    const quoted = names.map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (/\w$/.test(n) ? "(?!\\w)" : ""));
    return text.replace(new RegExp(quoted.join("|"), "g"), (n) => this.codes.get(n) || n);
  }

  /** Replaces codes by names, for the message field. @param {string} content */
  decode(content) {
    return content
      .replace(/<@!?(\d{15,21})>/g, (code, id) => (this.store.user(id) ? this.user(this.store.user(id)) : code))
      .replace(/<@&(\d{15,21})>/g, (code, id) => {
        const role = this.guild?.roles.get(id);
        return role ? this.role(role) : code;
      })
      .replace(/<#(\d{15,21})>/g, (code, id) => {
        const channel = this.store.channels.get(id);
        return channel?.name ? this.channel(channel) : code;
      })
      .replace(/<(a?):(\w{2,32}):(\d{15,21})>/g, (_, animated, name, id) =>
        this.emoji({ name, id, animated: !!animated }),
      );
  }
}
