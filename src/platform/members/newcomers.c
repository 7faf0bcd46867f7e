/* newcomers.c - GET /guilds/{guild.id}/new-member-welcome; no guild has such a page here. */
#include "platform/members/internal.h"

/* Always 204, because the page cannot be configured. */
enum err get_new_member_welcome(struct call *call)
{
    (void)call;
    return OK;
}
