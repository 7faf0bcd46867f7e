/* uploads.h - uploaded files of a request, for handlers that store them without a message. */
#ifndef PLATFORM_MESSAGES_UPLOADS_H
#define PLATFORM_MESSAGES_UPLOADS_H

#include "net/http/multipart.h"
#include "platform/messages/body.h"

/* The part files[number], or NULL. */
const struct part *upload_find(const struct call *call, uint64_t number);
/* Call in a compute stage: writes the part to disk as an attachment with this id. in (may be NULL):
 * what the body says about it. */
enum err upload_keep(struct call *call, snowflake id, const struct part *p,
                     const struct attachment_in *in, struct attachment *ret);
/* Makes a stored file available below /attachments/{place_id} (not a channel id) for one day. */
enum err upload_show(struct call *call, snowflake place_id, const struct attachment *a);
/* Deletes the file after the commit. */
enum err attachment_drop(struct call *call, snowflake id);
/* The name of the blob that holds a file. */
void attachment_blob(snowflake id, char out[64]);
/* Sets the signed URL of an attachment. */
void attachment_sign(struct call *call, snowflake channel_id, struct attachment *a);

#endif
