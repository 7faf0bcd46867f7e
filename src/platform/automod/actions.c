/* actions.c - actions of AutoMod rules that a text or name violates: alert messages, time-outs,
 * quarantine, events. */
#include "platform/automod/internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/messages/messages.h"

bool automod_rules_have_action(const struct list *rules, enum automod_action_type type)
{
    const struct automod_rule *r = rules->items;

    for (size_t i = 0; i < rules->count; i++)
        for (size_t k = 0; k < r[i].actions.count; k++)
            if (((const struct automod_action *)r[i].actions.items)[k].type == (int64_t)type)
                return true;
    return false;
}

/* --- the event AUTO_MODERATION_ACTION_EXECUTION -------------------------------------- */

/* A rule that a text or name violates, and the part of the text that matched. */
struct broken_rule {
    const struct automod_offence *offence;
    const struct automod_rule *rule;
    const struct automod_hit *hit;
};

static struct opt_id optional_id_if_nonzero(snowflake id)
{
    return (struct opt_id){ id ? GIVEN : ABSENT, id };
}

static void emit_action_execution(struct call *call, const struct broken_rule *b,
                                  const struct automod_action *action, snowflake alert)
{
    const struct automod_offence *o = b->offence;
    snowflake guild_id = o->member->guild_id;
    struct automod_execution event = {
        .guild_id = guild_id,
        .action = action,
        .rule_id = b->rule->id,
        .rule_trigger_type = b->rule->trigger_type,
        .user_id = o->member->user_id,
        .channel_id = optional_id_if_nonzero(o->channel ? o->channel->id : 0),
        .message_id = optional_id_if_nonzero(o->message_id),
        .alert_system_message_id = optional_id_if_nonzero(alert),
        .content = o->content,
        .matched_keyword = b->hit->keyword,
        .matched_content = b->hit->content,
    };

    call_emit_event(call, EVENT_AUTO_MODERATION_ACTION_EXECUTION,
                    audience_of_members_with_permission(guild_id, 0, PERMISSION(MANAGE_GUILD)),
                    &automod_execution_schema, &event);
}

static enum err record_rule_action_in_audit_log(struct call *call, const struct broken_rule *b,
                                                enum audit_log_action action)
{
    const struct automod_offence *o = b->offence;
    struct audit_log_options options = {
        .auto_moderation_rule_name = opt_str_or_null(b->rule->name),
        .auto_moderation_rule_trigger_type =
            opt_str_or_null(str_printf(call->arena, "%lld", (long long)b->rule->trigger_type)),
        .channel_id = optional_id_if_nonzero(o->channel ? o->channel->id : 0),
    };

    return audit_log_record_changes(call, o->member->guild_id, action, o->member->user_id, &options,
                                    (struct list){ 0 });
}

/* --- alert message about a rule violation -------------------------------------------- */

static void write_embed_field_json(struct json_writer *j, const char *name, struct str value)
{
    json_begin_object(j);
    json_write_name(j, "name");
    json_write_text(j, str_of(name));
    json_write_name(j, "value");
    json_write_text(j, value);
    json_write_name(j, "inline");
    json_write_bool(j, false);
    json_end_object(j);
}

static struct str format_id(struct arena *arena, snowflake id)
{
    return str_printf(arena, "%llu", (unsigned long long)id);
}

static int64_t timeout_seconds_of_rule(const struct broken_rule *b)
{
    const struct automod_action *a = b->rule->actions.items;

    for (size_t i = 0; i < b->rule->actions.count; i++)
        if (a[i].type == AUTOMOD_TIMEOUT)
            return a[i].metadata->duration_seconds.value;
    return 0;
}

static void write_profile_fields_json(struct json_writer *j, const struct automod_offence *o)
{
    if (!o->profile)
        return;
    if (o->blocked) {
        write_embed_field_json(j, "block_profile_update_type", str_of(o->profile));
        return;
    }
    write_embed_field_json(j, "quarantine_user", str_of(o->profile));
    write_embed_field_json(j, "quarantine_event", str_of(o->seen_by));
}

/* Writes the embed fields from which clients render the alert message. All values are strings. */
static void write_alert_fields_json(struct call *call, struct json_writer *j,
                                    const struct broken_rule *b)
{
    const struct automod_offence *o = b->offence;
    int64_t timeout = timeout_seconds_of_rule(b);

    write_embed_field_json(j, "rule_name", b->rule->name);
    if (o->channel)
        write_embed_field_json(j, "channel_id", format_id(call->arena, o->channel->id));
    write_embed_field_json(j, "decision_id", format_id(call->arena, snowflake_new()));
    write_embed_field_json(j, "decision_outcome", o->blocked ? STR("blocked") : STR("flagged"));
    write_embed_field_json(j, "keyword", b->hit->keyword.value);
    write_embed_field_json(j, "keyword_matched_content", b->hit->content.value);
    if (o->message_id)
        write_embed_field_json(j, "flagged_message_id", format_id(call->arena, o->message_id));
    if (timeout)
        write_embed_field_json(j, "timeout_duration",
                               str_printf(call->arena, "%lld", (long long)timeout));
    write_profile_fields_json(j, o);
}

static struct str encode_alert_embed(struct call *call, const struct broken_rule *b)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    json_begin_array(&j);
    json_begin_object(&j);
    json_write_name(&j, "type");
    json_write_text(&j, STR("auto_moderation_message"));
    json_write_name(&j, "description");
    json_write_text(&j, b->offence->content);
    json_write_name(&j, "fields");
    json_begin_array(&j);
    write_alert_fields_json(call, &j, b);
    json_end_array(&j);
    json_end_object(&j);
    json_end_array(&j);
    return buf_move_to_arena(&out, call->arena);
}

/* Sends the alert message. Does nothing if the alert channel has been deleted. */
static enum err send_alert_message(struct call *call, const struct broken_rule *b,
                                   const struct automod_action *action)
{
    const struct member *m = b->offence->member;
    struct channel c;
    struct user author;
    struct message alert;
    enum err e = channel_find(call->tx, action->metadata->channel_id.value, &c);

    if (e == ERR_UNKNOWN_CHANNEL || (!e && c.guild_id.value != m->guild_id))
        return OK;
    if (!e)
        e = user_find(call->tx, m->user_id, &author);
    if (e)
        return e;
    struct new_message draft = { .channel = &c,
                                 .type = MESSAGE_AUTO_MODERATION,
                                 .author = &author,
                                 .embeds = encode_alert_embed(call, b) };
    e = message_create(call, &draft, &alert);
    if (!e)
        e = record_rule_action_in_audit_log(call, b, AUDIT_AUTOMOD_ALERT);
    if (!e)
        emit_action_execution(call, b, action, alert.id);
    return e;
}

static enum err put_member_into_timeout(struct call *call, const struct broken_rule *b,
                                        const struct automod_action *action)
{
    struct member m;
    int64_t until = clock_us() + action->metadata->duration_seconds.value * 1000000;
    enum err e =
        member_find(call->tx, b->offence->member->guild_id, b->offence->member->user_id, &m);

    if (!e && !(m.communication_disabled_until.given == GIVEN &&
                m.communication_disabled_until.value >= until)) {
        m.communication_disabled_until = opt_int_present(until);
        e = member_update_and_emit(call, &m);
    }
    if (!e)
        e = record_rule_action_in_audit_log(call, b, AUDIT_AUTOMOD_TIMEOUT);
    if (!e)
        emit_action_execution(call, b, action, 0);
    return e;
}

/* Quarantines the member. Does nothing if AutoMod refused a new nickname: the nickname is not
 * stored then, so the member's names do not violate the rule. */
static enum err quarantine_member(struct call *call, const struct broken_rule *b,
                                  const struct automod_action *action)
{
    struct member m;
    enum err e =
        member_find(call->tx, b->offence->member->guild_id, b->offence->member->user_id, &m);

    if (!e && !b->offence->blocked && !(m.flags & MEMBER_QUARANTINED)) {
        m.flags |= MEMBER_QUARANTINED;
        e = member_update_and_emit(call, &m);
    }
    if (!e && !b->offence->blocked)
        e = record_rule_action_in_audit_log(call, b, AUDIT_AUTOMOD_QUARANTINE);
    if (!e)
        emit_action_execution(call, b, action, 0);
    return e;
}

/* --- executing the actions of violated rules ----------------------------------------- */

static enum err execute_rule_action(struct call *call, const struct broken_rule *b,
                                    const struct automod_action *a)
{
    enum err e;

    switch (a->type) {
    case AUTOMOD_ALERT:
        return send_alert_message(call, b, a);
    case AUTOMOD_TIMEOUT:
        return put_member_into_timeout(call, b, a);
    case AUTOMOD_QUARANTINE:
        return quarantine_member(call, b, a);
    default:
        e = record_rule_action_in_audit_log(call, b, AUDIT_AUTOMOD_BLOCK);
        if (!e)
            emit_action_execution(call, b, a, 0);
        return e;
    }
}

enum err automod_execute_actions(struct call *call, const struct automod_offence *o,
                                 const struct list *hits, const struct list *rules)
{
    static const int64_t order[] = { AUTOMOD_ALERT, AUTOMOD_TIMEOUT, AUTOMOD_QUARANTINE,
                                     AUTOMOD_BLOCK };
    const struct automod_rule *r = rules->items;
    enum err e = OK;

    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < rules->count; i++) {
            struct broken_rule b = { o, &r[i], &((const struct automod_hit *)hits->items)[i] };
            const struct automod_action *a = r[i].actions.items;

            for (size_t n = 0; !e && n < r[i].actions.count; n++)
                if (a[n].type == order[k])
                    e = execute_rule_action(call, &b, &a[n]);
        }
    return e;
}

/* --- reply to a refused request ------------------------------------------------------ */

struct refusal_reply {
    struct str message;
    int64_t code;
};

static const struct field refusal_fields[] = {
    { FIELD(struct refusal_reply, message), .type = &type_text },
    { FIELD(struct refusal_reply, code), .type = &type_count },
    { 0 },
};
static const struct schema refusal_schema = {
    .name = "AutoModerationRefusal",
    .size = sizeof(struct refusal_reply),
    .fields = refusal_fields,
    .doc = "A text was refused; the actions of the rules that it breaks were executed.",
};
static const struct type type_refusal = { .kind = KIND_OBJECT, .schema = &refusal_schema };

/* Replies with status 400 but returns OK, because an error would roll back the alert and the
 * time-out. */
enum err automod_reply_with_refusal(struct call *call, enum err code)
{
    const struct error_info *info = error_info(code);
    const struct refusal_reply refusal = { str_of(info->message), info->code };

    call_set_status(call, info->status);
    return call_reply_with_object_of_type(call, &type_refusal, &refusal);
}
