/* emoji_pictures.c - GET /emojis/{file}: the picture of an emoji. */
#include "platform/emojis/internal.h"

/* Every file extension returns the picture as it was uploaded. */
static enum err get_emoji_picture(struct call *call)
{
    struct str file = call_get_path_text(call, "file"), number = str_cut(&file, '.');
    struct emoji emoji;
    snowflake id;

    if (!snowflake_parse(number, &id))
        return ERR_NOT_FOUND;
    enum err e = emoji_find(call->tx, id, &emoji);
    if (e)
        return e == ERR_UNKNOWN_EMOJI ? ERR_NOT_FOUND : e;
    if (emoji.image.given != GIVEN)
        return reply_with_default_picture(call, id);
    return reply_with_stored_picture(call, "emojis", id, emoji.image.value);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/emojis/{file}",
        .name = "get_emoji_picture",
        .doc = "An emoji's picture, by its id and any extension.",
        .service = true,
        .status = 200,
        .handle = get_emoji_picture,
    },
    { 0 },
};

const struct domain emoji_files_domain = {
    .name = "Emoji pictures",
    .doc = "Emoji pictures at the root of the server, without authentication.",
    .routes = routes,
};
