/* ready.c - relationship fields of READY. */
#include "platform/relationships/friends.h"

#include "gateway/capabilities.h"
#include "platform/relationships/game_friends.h"
#include "platform/relationships/kept_lists.h"
#include "platform/relationships/suggestions.h"

enum err ready_relationships(struct tx *tx, snowflake user_id, struct ready_shape *shape,
                             struct json *out)
{
    const struct written_people *relationships;
    struct list games;
    int64_t suggestions;

    enum err e = game_relationships_of(tx, user_id, 0, &games);
    if (!e)
        e = suggestions_count(tx, user_id, &suggestions);
    if (!e)
        e = relationships_written(tx, user_id, shape_refers(shape), &relationships);
    if (e)
        return e;
    json_name(out, "relationships");
    shape_relationships(shape, relationships, out);
    json_name(out, "game_relationships");
    schema_encode(out, &type_game_relationships, &games);
    json_name(out, "friend_suggestion_count");
    json_int(out, suggestions);
    return OK;
}
