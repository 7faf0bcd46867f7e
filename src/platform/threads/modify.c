/* modify.c - PATCH and DELETE /channels/{channel.id} for threads. The thread's creator may change a
 * thread that is not locked. Members with MANAGE_THREADS may change everything. */
#include "platform/threads/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/deletion.h"

/* --- the audit log -------------------------------------------------------------------- */

static struct str format_int(struct call *call, int64_t v)
{
    return str_printf(call->arena, "%lld", (long long)v);
}

static struct str format_bool(bool v)
{
    return v ? STR("true") : STR("false");
}

struct list list_thread_changes_for_audit_log(struct call *call, const struct channel *before,
                                              const struct channel *now)
{
    const struct thread_metadata *t = now->thread_metadata,
                                 *o = before ? before->thread_metadata : NULL;
    struct list out = { 0 };
    struct str none = { 0 };
#define WAS(text) (before ? (text) : none)
    audit_log_add_change_to_list(
        call, &out, "name", WAS(json_column_encode(call->arena, &type_text, &before->name.value)),
        json_column_encode(call->arena, &type_text, &now->name.value));
    audit_log_add_change_to_list(call, &out, "type", WAS(format_int(call, before->type)),
                                 format_int(call, now->type));
    audit_log_add_change_to_list(call, &out, "archived", WAS(format_bool(o->archived)),
                                 format_bool(t->archived));
    audit_log_add_change_to_list(call, &out, "locked", WAS(format_bool(o->locked)),
                                 format_bool(t->locked));
    if (now->type == CHANNEL_PRIVATE_THREAD)
        audit_log_add_change_to_list(call, &out, "invitable", WAS(format_bool(o->invitable.value)),
                                     format_bool(t->invitable.value));
    audit_log_add_change_to_list(call, &out, "auto_archive_duration",
                                 WAS(format_int(call, o->auto_archive_duration)),
                                 format_int(call, t->auto_archive_duration));
    audit_log_add_change_to_list(call, &out, "rate_limit_per_user",
                                 WAS(format_int(call, before->rate_limit_per_user.value)),
                                 format_int(call, now->rate_limit_per_user.value));
    audit_log_add_change_to_list(call, &out, "flags", WAS(format_int(call, before->flags)),
                                 format_int(call, now->flags));
    if (now->applied_tags.value.count || (before && before->applied_tags.value.count))
        audit_log_add_change_to_list(
            call, &out, "applied_tags",
            WAS(json_column_encode(call->arena, &type_ids, &before->applied_tags.value)),
            json_column_encode(call->arena, &type_ids, &now->applied_tags.value));
#undef WAS
    return out;
}

/* --- permissions ---------------------------------------------------------------------- */

static bool can_manage_threads(const struct call *call)
{
    return call->target.permissions & PERMISSION(MANAGE_THREADS);
}

static bool can_unarchive_thread(const struct call *call, const struct channel *c)
{
    const struct thread_metadata *t = c->thread_metadata;

    return t->archived && !t->locked && call->target.permissions & PERMISSION(SEND_MESSAGES);
}

static bool caller_owns_unlocked_thread(const struct call *call, const struct channel *c)
{
    return c->owner_id.value == call->caller->id && !c->thread_metadata->locked;
}

enum err check_modify_thread_permission(struct call *call, const struct channel *c)
{
    return can_manage_threads(call) || caller_owns_unlocked_thread(call, c) ||
                   can_unarchive_thread(call, c)
               ? OK
               : call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
}

static enum err check_edited_field_permissions(const struct call *call, const struct channel *c,
                                               const struct channel_edit *in)
{
    bool wakes = in->archived.given == GIVEN && !in->archived.value;
    bool other = in->name.given != ABSENT || in->auto_archive_duration.given != ABSENT ||
                 in->invitable.given != ABSENT || in->applied_tags.given != ABSENT ||
                 (in->archived.given == GIVEN && in->archived.value);

    if (can_manage_threads(call))
        return OK;
    if (in->locked.given != ABSENT || in->rate_limit_per_user.given != ABSENT ||
        (in->flags.given == GIVEN && (in->flags.value ^ c->flags) & CHANNEL_PINNED))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
    if (other && !caller_owns_unlocked_thread(call, c))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
    return wakes && c->thread_metadata->archived && !can_unarchive_thread(call, c)
               ? call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS))
               : OK;
}

/* Returns an error if the thread remains archived and the request changes a field other than
 * `locked`. */
static enum err check_thread_is_not_archived(const struct channel *c, const struct channel_edit *in)
{
    bool stays =
        c->thread_metadata->archived && !(in->archived.given == GIVEN && !in->archived.value);
    bool other = in->name.given != ABSENT || in->auto_archive_duration.given != ABSENT ||
                 in->invitable.given != ABSENT || in->applied_tags.given != ABSENT ||
                 in->rate_limit_per_user.given != ABSENT || in->flags.given != ABSENT;

    return stays && other ? ERR_THREAD_ARCHIVED : OK;
}

/* --- applying the change -------------------------------------------------------------- */

static const char OTHER_PINNED[] =
    "select 1 from channels where guild_id = $1 and thread_archived = 0 and +parent_id = $2 and "
    "id <> $3 and flags % 4 >= 2 limit 1";

/* Sets the PINNED flag. A forum has at most one pinned post. */
static enum err apply_pinned_flag(struct call *call, const struct channel_edit *in,
                                  struct channel *c, const struct channel *parent)
{
    bool pin = in->flags.value & CHANNEL_PINNED;
    bool found = false;
    enum err e = OK;

    if (in->flags.given != GIVEN || !channel_is_forum_or_media(parent->type) ||
        pin == !!(c->flags & CHANNEL_PINNED))
        return OK;
    if (pin)
        e = tx_exists(call->tx, OTHER_PINNED,
                      BIND(v_id(c->guild_id.value), v_id(parent->id), v_id(c->id)), &found);
    if (!e && found)
        e = ERR_MAX_PINNED_POSTS;
    c->flags = pin ? c->flags | CHANNEL_PINNED : c->flags & ~(int64_t)CHANNEL_PINNED;
    return e;
}

static enum err apply_thread_tags(struct call *call, const struct channel_edit *in,
                                  struct channel *c, const struct channel *parent)
{
    if (in->applied_tags.given == ABSENT || !channel_is_forum_or_media(parent->type))
        return OK;
    enum err e = check_tag_change_permission(call, parent, &in->applied_tags.value,
                                             &c->applied_tags.value, call->target.permissions);
    if (!e)
        e = check_post_has_required_tag(parent, &in->applied_tags.value, call->target.permissions);
    c->applied_tags = (struct opt_list){ GIVEN, in->applied_tags.value };
    return e;
}

static enum err apply_archived_state(struct call *call, const struct channel_edit *in,
                                     struct channel *c, struct thread_metadata *t)
{
    bool longer = in->auto_archive_duration.given == GIVEN &&
                  in->auto_archive_duration.value != t->auto_archive_duration;

    if (in->auto_archive_duration.given == GIVEN)
        t->auto_archive_duration = in->auto_archive_duration.value;
    if (longer)
        t->archive_timestamp = clock_us();
    if (in->archived.given != GIVEN || in->archived.value == t->archived)
        return OK;
    t->archived = in->archived.value;
    t->archive_timestamp = clock_us();
    if (!t->archived)
        return check_active_thread_limit(call->tx, c->guild_id.value);
    c->flags &= ~(int64_t)CHANNEL_PINNED;
    return OK;
}

static enum err apply_thread_edit(struct call *call, const struct channel_edit *in,
                                  struct channel *c, struct thread_metadata *t)
{
    struct channel parent;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);

    if (e)
        return e;
    if (in->name.given == GIVEN)
        c->name = in->name;
    if (in->rate_limit_per_user.given != ABSENT)
        c->rate_limit_per_user = in->rate_limit_per_user;
    if (in->locked.given == GIVEN)
        t->locked = in->locked.value;
    if (in->invitable.given == GIVEN && c->type == CHANNEL_PRIVATE_THREAD)
        t->invitable = in->invitable;
    e = apply_pinned_flag(call, in, c, &parent);
    if (!e)
        e = apply_thread_tags(call, in, c, &parent);
    return e ? e : apply_archived_state(call, in, c, t);
}

static enum err emit_thread_edit(struct call *call, const struct channel *before,
                                 const struct channel *c)
{
    bool woken = before->thread_metadata->archived && !c->thread_metadata->archived;
    enum err e = OK;

    call_emit_event(call, EVENT_THREAD_UPDATE, audience_of_channel(c), &channel_schema, c);
    if (woken)
        e = emit_thread_member_updates(call, c);
    if (!e && !str_eq(before->name.value, c->name.value))
        e = message_create_system_message(call, c, MESSAGE_CHANNEL_NAME_CHANGE, call->caller->id, 0,
                                          c->name.value);
    return e;
}

enum err modify_thread(struct call *call, const struct channel *thread)
{
    const struct channel_edit *in = call->body;
    struct channel c = *thread;
    struct thread_metadata t = *c.thread_metadata;

    if (in->name.given == GIVEN_NULL)
        return call_add_field_error(call, "name", FORM_REQUIRED);
    enum err e = check_edited_field_permissions(call, thread, in);
    if (!e)
        e = check_thread_is_not_archived(thread, in);
    c.thread_metadata = &t;
    if (!e)
        e = apply_thread_edit(call, in, &c, &t);
    if (!e)
        e = channel_update(call->tx, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (!e && !t.archived)
        e = thread_schedule_archiving(call, &c);
    if (!e)
        e = audit_log_record_changes(call, c.guild_id.value, AUDIT_THREAD_UPDATE, c.id, NULL,
                                     list_thread_changes_for_audit_log(call, thread, &c));
    if (!e)
        e = emit_thread_edit(call, thread, &c);
    if (!e)
        e = thread_read_membership_of_user(call->tx, call->caller->id, &c);
    return e ? e : call_reply_with_object(call, &c);
}

static enum err clear_thread_flag_of_message(struct call *call, const struct channel *c)
{
    struct channel parent;
    struct message m;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);

    if (!e)
        e = message_find(call, parent.id, c->id, &m);
    if (!e && m.flags & MESSAGE_HAS_THREAD)
        e = message_set_thread_flag(call, &parent, &m, false);
    return e == ERR_UNKNOWN_MESSAGE || e == ERR_UNKNOWN_CHANNEL ? OK : e;
}

enum err thread_delete_and_emit(struct call *call, const struct channel *c)
{
    /* The event is emitted before the deletion, which deletes the thread members who receive it. */
    emit_thread_delete(call, c);
    enum err e = channel_delete(call, c->id);
    if (!e)
        e = clear_thread_flag_of_message(call, c);
    if (!e)
        e = audit_log_record_changes(call, c->guild_id.value, AUDIT_THREAD_DELETE, c->id, NULL,
                                     list_thread_changes_for_audit_log(call, NULL, c));
    return e;
}

enum err delete_thread(struct call *call, const struct channel *c)
{
    if (!can_manage_threads(call))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
    enum err e = thread_delete_and_emit(call, c);
    return e ? e : call_reply_with_object(call, c);
}
