/* rows.c - SQL of interactions. */
#include "interactions/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"

#define COLUMNS                                                                          \
    "id, type, application_id, user_id, channel_id, guild_id, context, owners, locale, " \
    "nonce, session, command_id, command_type, handler, name, target_id, focused_type, " \
    "message_id, opener_id"

int64_t interaction_creation_time(const struct interaction *it)
{
    return snowflake_to_ms(it->id) * 1000;
}

static void interaction_from_row(const struct rows *r, void *ret)
{
    struct interaction *it = ret;

    *it = (struct interaction){
        .id = row_id(r, 0),
        .type = row_int(r, 1),
        .application_id = row_id(r, 2),
        .user_id = row_id(r, 3),
        .channel_id = row_id(r, 4),
        .guild_id = row_id(r, 5),
        .context = row_int(r, 6),
        .owners = row_text(r, 7),
        .locale = row_text(r, 8),
        .nonce = row_optional_text(r, 9),
        .session = row_optional_text(r, 10),
        .command_id = row_id(r, 11),
        .command_type = row_int(r, 12),
        .handler = row_int(r, 13),
        .name = row_text(r, 14),
        .target_id = row_id(r, 15),
        .focused_type = row_int(r, 16),
        .message_id = row_id(r, 17),
        .opener_id = row_id(r, 18),
        .state = row_int(r, 19),
        .callback_type = row_int(r, 20),
        .response_id = row_id(r, 21),
        .ephemeral = row_bool(r, 22),
        .follow_ups = row_int(r, 23),
        .modal = row_optional_text(r, 24),
    };
}

static const char FIND[] =
    "select " COLUMNS ", state, callback_type, response_id, ephemeral, follow_ups, modal "
    "from interactions where id = $1";

enum err read_interaction(struct tx *tx, snowflake id, struct interaction *ret)
{
    return tx_read_first(tx, FIND, BIND(v_id(id)), interaction_from_row, ret,
                         ERR_UNKNOWN_INTERACTION);
}

static const char ADD[] = "insert into interactions (" COLUMNS
                          ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                          "$14, $15, $16, $17, $18, $19)";

enum err insert_interaction(struct tx *tx, const struct interaction *it)
{
    return tx_exec(
        tx, ADD,
        BIND(v_id(it->id), v_int(it->type), v_id(it->application_id), v_id(it->user_id),
             v_id(it->channel_id), sql_value_of_id_or_null(it->guild_id), v_int(it->context),
             v_text(it->owners), v_text(it->locale), sql_value_of_optional_text(it->nonce),
             sql_value_of_optional_text(it->session), sql_value_of_id_or_null(it->command_id),
             sql_value_of_int_or_null(it->command_type), sql_value_of_int_or_null(it->handler),
             it->name.p ? v_text(it->name) : v_null(), sql_value_of_id_or_null(it->target_id),
             sql_value_of_int_or_null(it->focused_type), sql_value_of_id_or_null(it->message_id),
             sql_value_of_id_or_null(it->opener_id)),
        NULL);
}

static const char ACKNOWLEDGE[] =
    "update interactions set state = 1, callback_type = $2, response_id = $3, ephemeral = $4, "
    "modal = $5 where id = $1 and state = 0";

enum err acknowledge_interaction(struct call *call, struct interaction *it,
                                 const struct interaction_acknowledgement *a)
{
    int64_t changed;

    if (it->state == INTERACTION_UNANSWERED &&
        clock_us() > interaction_creation_time(it) + INTERACTION_TIMEOUT_US)
        return ERR_UNKNOWN_INTERACTION;
    enum err e =
        tx_exec(call->tx, ACKNOWLEDGE,
                BIND(v_id(it->id), v_int(a->callback_type), sql_value_of_id_or_null(a->response_id),
                     v_int(a->ephemeral), a->modal.p ? v_text(a->modal) : v_null()),
                &changed);
    if (e)
        return e;
    if (!changed)
        return it->state == INTERACTION_FAILED ? ERR_UNKNOWN_INTERACTION : ERR_ALREADY_ACKNOWLEDGED;

    it->state = INTERACTION_ACKNOWLEDGED;
    it->callback_type = a->callback_type;
    it->response_id = a->response_id;
    it->ephemeral = a->ephemeral;
    return OK;
}

static const char FOLLOW_UP[] = "update interactions set follow_ups = follow_ups + 1 "
                                "where id = $1 returning follow_ups";

enum err count_follow_up_message(struct tx *tx, struct interaction *it, int64_t *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FOLLOW_UP, BIND(v_id(it->id)), ERR_UNKNOWN_INTERACTION, &row);

    if (e)
        return e;
    *ret = it->follow_ups = row_int(&row, 0);
    return OK;
}
