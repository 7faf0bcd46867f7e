/* uploads.h - files that come along with a call, for those who keep them without a message. */
#ifndef PLATFORM_MESSAGES_UPLOADS_H
#define PLATFORM_MESSAGES_UPLOADS_H

#include "net/http/multipart.h"
#include "platform/messages/body.h"

/* files[number], or NULL. */
const struct part *upload_find(const struct call *call, uint64_t number);
/* In a compute stage: writes it to the disk as an attachment with this id. in (may be NULL):
 * what the body says about it. */
enum err upload_keep(struct call *call, snowflake id, const struct part *p,
                     const struct attachment_in *in, struct attachment *ret);
/* Lets a kept file be had at an address of this place (not a channel's) for a day. */
enum err upload_show(struct call *call, snowflake place_id, const struct attachment *a);
/* Its bytes go when the transaction has committed. */
enum err attachment_drop(struct call *call, snowflake id);
/* The name of the blob that a file is kept in. */
void attachment_blob(snowflake id, char out[64]);
/* Where a file can be had, signed. */
void attachment_sign(struct call *call, snowflake channel_id, struct attachment *a);

#endif
