/* audit.c - audit log entries for changes of AutoMod rules. */
#include "platform/automod/internal.h"

#include <stdlib.h>

#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"

struct rule_audit {
    struct call *call;
    const struct automod_rule *before,
        *now;            /* rule before (NULL if new) and after the change (NULL if deleted) */
    struct list changes; /* struct audit_log_change */
};

static void add_rule_field_to_audit_entry(struct rule_audit *n, const char *key,
                                          const struct type *type, size_t offset)
{
    audit_log_add_typed_change_to_list(n->call, &n->changes, key, type,
                                       n->before ? (const char *)n->before + offset : NULL,
                                       n->now ? (const char *)n->now + offset : NULL);
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Returns a sorted copy of a list of up to 1,000 texts, for binary search. */
static struct list copy_trigger_texts_sorted(struct arena *a, const struct list *texts)
{
    size_t size = texts->count * sizeof(struct str);
    struct list sorted = { arena_alloc_unzeroed(a, size + 1), texts->count };

    if (size) {
        memcpy(sorted.items, texts->items, size);
        qsort(sorted.items, sorted.count, sizeof(struct str), compare_texts);
    }
    return sorted;
}

/* Adds an audit log change "$add_…" or "$remove_…" with the texts that are in the list `of` but not
 * in the list `without`. */
static void add_text_difference_to_audit_entry(struct rule_audit *n, const char *sign,
                                               const char *key, const struct list *of,
                                               const struct list *without)
{
    struct arena *a = n->call->arena;
    struct list more = { 0 }, others = copy_trigger_texts_sorted(a, without);

    for (size_t i = 0; i < of->count; i++) {
        struct str text = ((const struct str *)of->items)[i];

        if (!bsearch(&text, others.items, others.count, sizeof text, compare_texts))
            *(struct str *)list_append(a, &more, sizeof text) = text;
    }
    if (!more.count)
        return;
    struct audit_log_change *c = list_append(a, &n->changes, sizeof *c);
    c->key = str_printf(a, "$%s_%s", sign, key);
    c->new_value = opt_str_or_null(json_column_encode(a, &type_texts, &more));
}

static void add_trigger_texts_to_audit_entry(struct rule_audit *n, const char *key, size_t offset)
{
    static const struct list none;
    const struct list *before = &none, *now = &none;

    if (n->before)
        before =
            &((const struct opt_list *)((const char *)n->before->trigger_metadata + offset))->value;
    if (n->now)
        now = &((const struct opt_list *)((const char *)n->now->trigger_metadata + offset))->value;
    add_text_difference_to_audit_entry(n, "add", key, now, before);
    add_text_difference_to_audit_entry(n, "remove", key, before, now);
}

enum err automod_write_rule_audit_entry(struct call *call, const struct automod_rule *before,
                                        const struct automod_rule *now)
{
    struct rule_audit n = { .call = call, .before = before, .now = now };
    const struct automod_rule *any = now ? now : before;
    enum audit_log_action action = !before ? AUDIT_AUTOMOD_RULE_CREATE
                                   : now   ? AUDIT_AUTOMOD_RULE_UPDATE
                                           : AUDIT_AUTOMOD_RULE_DELETE;

    add_rule_field_to_audit_entry(&n, "name", &type_text, offsetof(struct automod_rule, name));
    add_rule_field_to_audit_entry(&n, "event_type", &type_int,
                                  offsetof(struct automod_rule, event_type));
    add_rule_field_to_audit_entry(&n, "trigger_type", &type_int,
                                  offsetof(struct automod_rule, trigger_type));
    add_rule_field_to_audit_entry(&n, "actions", &type_automod_actions,
                                  offsetof(struct automod_rule, actions));
    add_rule_field_to_audit_entry(&n, "enabled", &type_bool,
                                  offsetof(struct automod_rule, enabled));
    add_rule_field_to_audit_entry(&n, "exempt_roles", &type_ids,
                                  offsetof(struct automod_rule, exempt_roles));
    add_rule_field_to_audit_entry(&n, "exempt_channels", &type_ids,
                                  offsetof(struct automod_rule, exempt_channels));
    add_trigger_texts_to_audit_entry(&n, "keyword_filter",
                                     offsetof(struct automod_trigger_metadata, keyword_filter));
    add_trigger_texts_to_audit_entry(&n, "regex_patterns",
                                     offsetof(struct automod_trigger_metadata, regex_patterns));
    add_trigger_texts_to_audit_entry(&n, "allow_list",
                                     offsetof(struct automod_trigger_metadata, allow_list));
    return audit_log_record_changes(call, any->guild_id, action, any->id, NULL, n.changes);
}

enum err audit_log_reply_add_automod_rules(struct call *call, struct audit_log_objects *log)
{
    struct list ids = audit_log_list_target_ids_of_actions(
        call->arena, log, AUDIT_AUTOMOD_RULE_CREATE, AUDIT_AUTOMOD_RULE_DELETE);
    const snowflake *id = ids.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids.count; i++) {
        struct automod_rule rule;

        e = automod_rule_find(call->tx, log->guild_id, id[i], &rule);
        if (!e)
            audit_log_append_object(call->arena, &log->auto_moderation_rules, &type_automod_rule,
                                    &rule);
        else if (e == ERR_NOT_FOUND)
            e = OK;
    }
    return e;
}
