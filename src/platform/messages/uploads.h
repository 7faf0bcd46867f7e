/* uploads.h - uploaded files of a request, for handlers that store the files without a message. */
#ifndef PLATFORM_MESSAGES_UPLOADS_H
#define PLATFORM_MESSAGES_UPLOADS_H

#include "net/http/multipart.h"
#include "platform/messages/message_body.h"

/* Returns the multipart part with the name files[number], or NULL. */
const struct multipart_part *uploaded_part_find(const struct call *call, uint64_t number);
/* Stores a multipart part as an attachment with this id. in has the fields that the request body
 * has for the attachment, or is NULL if it has none. Call it in a compute stage (thread pool). */
enum err uploaded_part_store(struct call *call, snowflake id, const struct multipart_part *p,
                             const struct attachment_in_body *in, struct attachment *ret);
/* Makes a file available below /attachments/{target_id} for a day. target_id is not a channel
 * id. */
enum err attachment_publish_for_one_day(struct call *call, snowflake target_id,
                                        const struct attachment *a);
/* Deletes the attachment's file after the commit. */
enum err attachment_delete_file(struct call *call, snowflake id);
void attachment_blob_name(snowflake id, char out[64]);
void attachment_sign_url(struct call *call, snowflake channel_id, struct attachment *a);

#endif
