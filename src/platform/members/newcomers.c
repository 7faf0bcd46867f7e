/* newcomers.c - the page for new members, which no guild has here. */
#include "platform/members/internal.h"

/* GET /guilds/{guild.id}/new-member-welcome: 204, as nothing is set. */
enum err get_new_member_welcome(struct call *call)
{
    (void)call;
    return OK;
}
