import { createSocket } from 'node:dgram'
import { isIPv4 } from 'node:net'

/** What a name answers: IP addresses, or another name (CNAME). */
export type Answers = (name: string, lookup: number) => ReadonlyArray<string>

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const
const typeOf = (value: string): keyof typeof TYPES =>
  isIPv4(value) ? 'A' : value.includes(':') ? 'AAAA' : 'CNAME'

const bytesOfName = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.of(0)])

const bytesOfIPv6 = (address: string): Buffer => {
  const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter((word) => word !== ''))
  const words = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return Buffer.from(words.map((word) => word.padStart(4, '0')).join(''), 'hex')
}

const record = (owner: string, value: string): Buffer => {
  const type = typeOf(value)
  const data = type === 'A' ? Buffer.from(value.split('.').map(Number))
    : type === 'AAAA' ? bytesOfIPv6(value) : bytesOfName(value)
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(TYPES[type], 0)
  fixed.writeUInt16BE(1, 2)
  // The time to live, in bytes 4 to 7, is 0: nobody may remember the answer.
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([bytesOfName(owner), fixed, data])
}

const readQuestion = (query: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size))
    at += 1 + size
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), bytes: query.subarray(12, at + 5) }
}

/**
 * Starts a DNS server on UDP port 53 of 127.0.0.1, with a time to live of 0. A lookup of the system asks for both
 * families, so lookups are counted by name and type: `lookup` is 0 for the first one.
 */
export const serveDns = async (answers: Answers): Promise<{ readonly close: () => void }> => {
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  /** The records of a type, with the chain of names that leads to them. */
  const recordsOf = (name: string, type: number): ReadonlyArray<Buffer> => {
    const key = `${name} ${type}`
    const lookup = asked.get(key) ?? 0
    asked.set(key, lookup + 1)
    return answers(name, lookup).flatMap((value) => {
      if (typeOf(value) === 'CNAME') return [record(name, value), ...recordsOf(value, type)]
      return TYPES[typeOf(value)] === type ? [record(name, value)] : []
    })
  }
  socket.on('message', (query, { port, address }) => {
    const { name, type, bytes } = readQuestion(query)
    const records = recordsOf(name, type)
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8580, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    header.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([header, bytes, ...records]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(53, '127.0.0.1', resolve))
  return { close: () => void socket.close() }
}
