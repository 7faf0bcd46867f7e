/* opcode_table.c - table of the gateway opcodes that voice/ handles. */
#include "voice/calls/calls.h"
#include "voice/internal.h"
#include "voice/streams/streams.h"

const struct voice_opcode_handler voice_opcodes[] = {
    { 4, &type_voice_state_request, handle_voice_state_update_opcode,
      session_opcode_set_rate_limit_of_join },
    { 13, &type_call_request, handle_call_connect_opcode, NULL },
    { 18, &type_stream_request, create_stream, NULL },
    { 19, &type_stream_key_request, delete_stream, NULL },
    { 20, &type_stream_key_request, watch_stream, NULL },
    { 21, &type_stream_key_request, handle_stream_ping, NULL },
    { 22, &type_stream_pause, pause_stream, NULL },
    { 0 },
};
