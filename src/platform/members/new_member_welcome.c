/* new_member_welcome.c - GET /guilds/{guild.id}/new-member-welcome. */
#include "platform/members/internal.h"

/* The reply is always 204, because the welcome page cannot be configured. */
enum err get_new_member_welcome(struct call *call)
{
    (void)call;
    return OK;
}
