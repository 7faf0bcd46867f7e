/* uses.c - how often commands are used, for their rank. */
#include "commands/internal.h"

#include "base/clock.h"

enum { DAY_S = 24 * 60 * 60 };

static const char COUNT_USE[] =
    "insert into command_uses (command_id, day, uses) values ($1, $2, 1) "
    "on conflict (command_id, day) do update set uses = command_uses.uses + 1";

enum err command_used(struct call *call, const struct command *k)
{
    return tx_exec(call->tx, COUNT_USE, BIND(v_id(k->id), v_int(clock_s() / DAY_S)), NULL);
}
