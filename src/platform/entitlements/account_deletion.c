/* account_deletion.c - deletes the entitlements of a deleted account, in batches. */
#include "platform/entitlements/internal.h"

#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "api/deletion.h"

struct deleted_entitlement {
    struct entitlement was;
    snowflake bot_id;
};

static const char OF_ACCOUNT[] =
    "select e.id, e.application_id, e.sku_id, e.sku_type, e.consumed, e.deleted_at, a.bot_id, "
    "e.user_id "
    "from entitlements e left join applications a on a.id = e.application_id and a.removed = 0 "
    "where e.user_id = $1 and e.guild_id is null order by e.application_id, e.id limit $2";

static void deleted_entitlement_from_row(const struct rows *r, void *ret)
{
    *(struct deleted_entitlement *)ret = (struct deleted_entitlement){
        .was = { .id = row_id(r, 0),
                 .application_id = row_id(r, 1),
                 .sku_id = row_id(r, 2),
                 .sku_type = row_int(r, 3),
                 .user_id = row_id(r, 7),
                 .type = ENTITLEMENT_OF_APPLICATION,
                 .consumed = row_bool(r, 4),
                 .deleted = !row_column_is_null(r, 5),
                 .starts_at.given = GIVEN_NULL,
                 .ends_at.given = GIVEN_NULL },
        .bot_id = row_column_is_null(r, 5) ? row_id(r, 6) : 0,
    };
}

/* Deletes an entitlement. Emits ENTITLEMENT_DELETE to the app's bot, unless the entitlement was
 * already removed (its row was only marked). */
static enum err delete_and_emit_entitlement(struct call *call, struct deleted_entitlement *x)
{
    x->was.deleted = true;
    if (x->bot_id) {
        call_emit_event(call, EVENT_ENTITLEMENT_DELETE, audience_of_user(x->bot_id),
                        &entitlement_schema, &x->was);
        emit_event_of_application_subscription(call, EVENT_SUBSCRIPTION_DELETE, x->bot_id, &x->was);
    }
    return tx_exec(call->tx, "delete from entitlements where id = $1", BIND(v_id(x->was.id)), NULL);
}

enum err entitlements_delete_of_account(struct call *call, snowflake user_id,
                                        struct deletion_step_limits *step)
{
    struct list gone = { 0 };
    enum err e =
        tx_read_list(call->tx, OF_ACCOUNT, BIND(v_id(user_id), v_int(step->rows_left)),
                     sizeof(struct deleted_entitlement), deleted_entitlement_from_row, &gone);

    for (size_t i = 0; !e && i < gone.count; i++)
        e = delete_and_emit_entitlement(call, (struct deleted_entitlement *)gone.items + i);
    deletion_step_subtract_deleted_rows(step, (int64_t)gone.count);
    return e;
}
