/* commands.c - table of the gateway opcodes that voice/ handles. */
#include "voice/calls/calls.h"
#include "voice/internal.h"
#include "voice/streams/streams.h"

const struct voice_opcode voice_command_rows[] = {
    { 4, &type_voice_request, update_voice_state, aim_voice_state },
    { 13, &type_call_request, connect_call, NULL },
    { 18, &type_stream_request, create_stream, NULL },
    { 19, &type_stream_name, delete_stream, NULL },
    { 20, &type_stream_name, watch_stream, NULL },
    { 21, &type_stream_name, ping_stream, NULL },
    { 22, &type_stream_pause, pause_stream, NULL },
    { 0 },
};
