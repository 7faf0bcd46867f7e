/* voice_messages.c - validates voice messages. A voice message consists of one audio attachment
 * only. */
#include "model/permissions/permissions.h"
#include "platform/messages/internal.h"

static bool has_content_besides_files(const struct new_message *d)
{
    return d->content.n || (d->embeds.p && !str_is(d->embeds, "[]")) ||
           (d->components.p && !str_is(d->components, "[]")) || d->poll ||
           d->sticker_items.given == GIVEN || d->snapshot.given == GIVEN;
}

enum err check_content_of_voice_message(const struct message_sender *from,
                                        const struct new_message *d)
{
    const struct attachment *a = d->attachments.items;

    if (!(d->flags & MESSAGE_IS_VOICE_MESSAGE))
        return OK;
    if (!channel_is_private(from->channel->type) &&
        !(from->perms & PERMISSION(SEND_VOICE_MESSAGES)))
        return ERR_NO_VOICE_MESSAGES;
    if (has_content_besides_files(d))
        return ERR_VOICE_MESSAGE_CONTENT;
    if (d->attachments.count != 1 || !str_starts_with(a->content_type.value, STR("audio/")))
        return ERR_VOICE_MESSAGE_FILE;
    return a->duration_secs.given == GIVEN && a->waveform.given == GIVEN
               ? OK
               : ERR_VOICE_MESSAGE_METADATA;
}
