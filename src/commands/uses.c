/* uses.c - how often commands are used, for their rank. */
#include "base/clock.h"
#include "commands/internal.h"

enum { DAY_S = 24 * 60 * 60, RANKED_DAYS = 30 };

/* A command that nobody used lately has no uses to be looked for. */
static const char COUNT_USE[] =
    "insert into command_uses (command_id, day, uses) values ($1, $2, 1) "
    "on conflict (command_id, day) do update set uses = command_uses.uses + 1";
static const char NOTE_DAY[] = "update commands set used_day = $2 where id = $1 and used_day < $2";

int64_t ranked_since(void)
{
    return clock_s() / DAY_S - RANKED_DAYS;
}

enum err command_used(struct call *call, const struct command *k)
{
    struct value day = v_int(clock_s() / DAY_S);
    enum err e = tx_exec(call->tx, COUNT_USE, BIND(v_id(k->id), day), NULL);

    return e ? e : tx_exec(call->tx, NOTE_DAY, BIND(v_id(k->id), day), NULL);
}
