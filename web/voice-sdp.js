// voice-sdp.js - parses the browser's SDP offer, and writes the SDP answer for the voice server.

const MAX_AUDIO = 128000;

/**
 * Returns the number in the first group of a regular expression's match, or 0 without a match.
 * @param {string} sdp @param {RegExp} re @returns {number}
 */
const number = (sdp, re) => Number(re.exec(sdp)?.[1] || 0);

/** Returns the payload types of the codecs in an SDP offer. @param {string} sdp */
export function codecsOf(sdp) {
  const opus = number(sdp, /^a=rtpmap:(\d+) opus/m),
    vp8 = number(sdp, /^a=rtpmap:(\d+) VP8/m);
  return { opus, vp8, rtx: number(sdp, new RegExp(`^a=fmtp:(\\d+) apt=${vp8}\\b`, "m")) };
}

/** Returns the lines of the browser's SDP offer that opcode 1 (Select Protocol) contains. @param {string} sdp */
export const fragmentOf = (sdp) =>
  [
    ...new Set(
      sdp.split("\r\n").filter((l) => /^a=(extmap|ice-(ufrag|pwd)|fingerprint:|rtpmap:\d+ (opus|VP8))/.test(l)),
    ),
  ].join("\n");

const sectionsOf = (sdp) => sdp.split(/^(?=m=)/m).slice(1);
const midOf = (section) => /^a=mid:(.*?)\r?$/m.exec(section)[1];

/**
 * Returns the two SSRCs of a media section in the browser's SDP offer: the SSRC of the media and that of
 * retransmissions.
 */
export function ssrcsOf(sdp, mid) {
  const section = sectionsOf(sdp).find((s) => midOf(s) === mid) || "",
    group = /^a=ssrc-group:FID (\d+) (\d+)/m.exec(section);
  return group ? [Number(group[1]), Number(group[2])] : [number(section, /^a=ssrc:(\d+)/m), 0];
}

/**
 * Returns the SDP answer. Each media section for receiving gets the SSRC of one user.
 * @param {string} offer @param {string} server the lines of SDP that the server sent
 * @param {Map<string, number>} sources SSRCs by the mid of the section that receives them
 */
export function answerTo(offer, server, sources) {
  const port = /^m=audio (\d+)/m.exec(server)[1],
    { opus, vp8, rtx } = codecsOf(offer);
  const transport = [...new Set(server.split("\n").filter((l) => /^(c=|a=(ice-|candidate|fingerprint))/.test(l)))];
  const video = [
    `a=rtpmap:${vp8} VP8/90000`,
    ...(rtx ? [`a=rtpmap:${rtx} rtx/90000`, `a=fmtp:${rtx} apt=${vp8}`] : []),
    ...["nack", "nack pli", "ccm fir", "transport-cc"].map((f) => `a=rtcp-fb:${vp8} ${f}`),
  ];
  const audio = [
    `a=rtpmap:${opus} opus/48000/2`,
    `a=fmtp:${opus} minptime=10;useinbandfec=1;usedtx=1;stereo=1;maxaveragebitrate=${MAX_AUDIO}`,
    `a=rtcp-fb:${opus} transport-cc`,
  ];
  const sections = sectionsOf(offer).map((section) => {
    const isVideo = section.startsWith("m=video"),
      mid = midOf(section),
      ssrc = sources.get(mid);
    const types = isVideo ? `${vp8}${rtx ? ` ${rtx}` : ""}` : opus,
      direction = section.includes("a=sendonly") ? "recvonly" : ssrc ? "sendonly" : "inactive";
    const named = !ssrc
      ? []
      : isVideo
        ? [`a=ssrc-group:FID ${ssrc} ${ssrc + 1}`, `a=ssrc:${ssrc} cname:${ssrc}`, `a=ssrc:${ssrc + 1} cname:${ssrc}`]
        : [`a=ssrc:${ssrc} cname:${ssrc}`];
    return [
      `m=${isVideo ? "video" : "audio"} ${port} UDP/TLS/RTP/SAVPF ${types}`,
      ...transport,
      "a=rtcp-mux",
      "a=setup:passive",
      `a=mid:${mid}`,
      `a=${direction}`,
      ...section.split("\r\n").filter((l) => /^a=extmap:\d+ .*transport-wide-cc/.test(l)),
      ...(isVideo ? video : audio),
      ...named,
    ];
  });
  const group = /^a=group:BUNDLE.*$/m.exec(offer)[0].trim();
  return ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", group, ...sections.flat(), ""].join("\r\n");
}
