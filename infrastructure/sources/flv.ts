/** FLV (Adobe, "Flash Video File Format", 10.1, annex E) with audio only, made from what RTMP or RTP delivers. */
export const FLV_HEADER = Buffer.from([0x46, 0x4c, 0x56, 1, 4, 0, 0, 0, 9, 0, 0, 0, 0])

const AUDIO = 8
const TAG_HEADER = 11
/** AAC; the rate and the channels beside it are ignored, its configuration says them. */
const AAC = 0xaf

/** `data`: as in an audio message of RTMP. `timestamp`: milliseconds. */
export const flvAudioTag = (timestamp: number, data: Buffer): Buffer => {
  const tag = Buffer.alloc(TAG_HEADER + data.length + 4)
  tag.writeUInt8(AUDIO, 0)
  tag.writeUIntBE(data.length, 1, 3)
  tag.writeUIntBE(timestamp % 2 ** 24, 4, 3)
  tag.writeUInt8(Math.floor(timestamp / 2 ** 24) % 256, 7)
  data.copy(tag, TAG_HEADER)
  tag.writeUInt32BE(TAG_HEADER + data.length, TAG_HEADER + data.length)
  return tag
}

/** `config`: an AudioSpecificConfig (ISO 14496-3, 1.6.2.1). */
export const aacConfigTag = (config: Buffer): Buffer => flvAudioTag(0, Buffer.concat([Buffer.from([AAC, 0]), config]))
export const aacFrameTag = (timestamp: number, frame: Buffer): Buffer => flvAudioTag(timestamp, Buffer.concat([Buffer.from([AAC, 1]), frame]))
