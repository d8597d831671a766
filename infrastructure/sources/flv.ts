/** Header of FLV (Adobe, "Flash Video File Format", 10.1, annex E) with audio only. RTMP and RTP audio becomes FLV. */
export const FLV_HEADER = Buffer.from([0x46, 0x4c, 0x56, 1, 4, 0, 0, 0, 9, 0, 0, 0, 0])

const AUDIO = 8
const TAG_HEADER = 11
/** AAC. Readers ignore the rate and channels in this byte and use the AAC configuration. */
const AAC = 0xaf
/** Enhanced RTMP 2.0: extended header with the packet type, then the four letters of the codec. */
const OPUS_CONFIG = Buffer.from('\x90Opus', 'latin1')
const OPUS_PACKET = Buffer.from('\x91Opus', 'latin1')

/** Builds an audio tag. `data`: the payload of an RTMP audio message. `timestamp`: milliseconds. */
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

/** Builds the first tag of AAC audio. `config`: an AudioSpecificConfig (ISO 14496-3, 1.6.2.1). */
export const aacConfigTag = (config: Buffer): Buffer =>
  flvAudioTag(0, Buffer.concat([Buffer.from([AAC, 0]), config]))
export const aacFrameTag = (timestamp: number, frame: Buffer): Buffer =>
  flvAudioTag(timestamp, Buffer.concat([Buffer.from([AAC, 1]), frame]))

/** The identification header of Opus (RFC 7845, 5.1). */
const opusHead = (channels: number): Buffer => {
  const bytes = Buffer.alloc(19)
  bytes.write('OpusHead', 0, 'latin1')
  bytes.writeUInt8(1, 8)
  bytes.writeUInt8(channels, 9)
  bytes.writeUInt32LE(48_000, 12)
  return bytes
}

export const opusConfigTag = (channels: number): Buffer =>
  flvAudioTag(0, Buffer.concat([OPUS_CONFIG, opusHead(channels)]))
export const opusPacketTag = (timestamp: number, packet: Buffer): Buffer =>
  flvAudioTag(timestamp, Buffer.concat([OPUS_PACKET, packet]))
