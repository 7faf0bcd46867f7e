/* new_member_welcome.c - GET /guilds/{guild.id}/new-member-welcome. */
#include "platform/members/internal.h"

/* Always replies with status 204 (no welcome page), because this server has no setting for it. */
enum err get_new_member_welcome(struct call *call)
{
    (void)call;
    return OK;
}
