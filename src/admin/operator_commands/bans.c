/* bans.c - operator commands for banned address ranges. */
#include "api/auth/address_bans.h"

#include "admin/operator_commands/internal.h"

static void add_address_ban_row(struct running_operator_command *o, const struct address_ban *b)
{
    OPERATOR_ROW(o, v_id(b->id), v_text(b->range), v_int(b->created_at), v_text(b->reason));
}

enum err operator_ban_list(struct call *call, struct running_operator_command *o)
{
    struct list all;
    enum err e = list_address_bans(call->tx, o->after, o->limit, &all);

    for (size_t i = 0; !e && i < all.count; i++)
        add_address_ban_row(o, &((struct address_ban *)all.items)[i]);
    return e;
}

/* Returns whether all bits after the prefix of an address range are 0, so that each range has only
 * one text form. */
static bool network_has_no_host_bits(const struct ip_network *n)
{
    for (unsigned bit = n->bits; bit < 128; bit++)
        if (n->address.bytes[bit / 8] & 0x80 >> bit % 8)
            return false;
    return true;
}

enum err operator_ban_add(struct call *call, struct running_operator_command *o)
{
    struct ip_network n;
    struct address_ban ban;
    enum err e = ERR_BAD_REQUEST;

    if (!ip_network_parse(o->words[0], &n) || !network_has_no_host_bits(&n))
        o->problem = "write a range as 192.0.2.0/24, 2001:db8::/32 or an address; bits after "
                     "the prefix must be zero";
    else
        e = insert_address_ban(call, &n, o->count > 1 ? o->words[1] : STR(""), &ban);
    if (e == ERR_STORE_CONFLICT)
        o->problem = "this range is already banned";
    if (e == ERR_RATE_LIMITED)
        o->problem = "the limit of 1000 bans is reached; lift some, or use the machine's firewall";
    if (!e)
        add_address_ban_row(o, &ban);
    return e;
}

enum err operator_ban_lift(struct call *call, struct running_operator_command *o)
{
    struct address_ban ban;
    snowflake id;
    enum err e =
        snowflake_parse(o->words[0], &id) ? delete_address_ban(call, id, &ban) : ERR_NOT_FOUND;

    if (e == ERR_NOT_FOUND)
        o->problem = "there is no ban with this id; 'ban list' prints the ids";
    if (!e)
        add_address_ban_row(o, &ban);
    return e;
}
