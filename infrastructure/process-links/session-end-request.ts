import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { EndMessage, RelayedData, Peer } from '../../application/ports/live-links.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pathOf } from './paths.ts'

/** Requests and responses have a few hundred bytes. */
const MAX_BODY_BYTES = 64 * 1024

export const endRequest = t.strict({ end: t.UnknownRecord })
export const endResponse = t.strict({ ended: t.union([t.UnknownRecord, t.null]) })

/** Reads a JSON body. Rejects when it is too long, broken off or invalid. */
export const readJson = async (message: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw new Error('the body is too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** Describes why a process did not open a link or did not end a session. */
export const describeRefusal = (status: number, { name }: Peer): string => {
  switch (status) {
    case 409:
      return `${name} has restarted`
    case 503:
      return `${name} is stopping`
    default:
      return `${name} answered ${status}`
  }
}

/** Asks the worker of a session to end it. Rejects without an answer within `limitMs`. */
export const requestSessionEnd = (
  wire: Duplex,
  peer: Peer,
  { liveId, end }: EndMessage,
  limitMs: number,
  timers: Timers,
): Promise<RelayedData | null> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      cancel()
      sent.destroy()
      reject(error)
    }
    const cancel = timers.after(limitMs, () => fail(new Error(`${peer.name} did not answer in ${limitMs} ms`)))
    const readAnswer = async (response: IncomingMessage): Promise<void> => {
      if (response.statusCode !== 200) throw new Error(describeRefusal(response.statusCode ?? 0, peer))
      const answer = endResponse.decode(await readJson(response))
      if (E.isLeft(answer)) throw new Error(`${peer.name} sent an invalid answer`)
      cancel()
      sent.destroy()
      resolve(answer.right.ended)
    }
    const sent = request({
      createConnection: () => wire,
      method: 'POST',
      path: pathOf({ incarnation: peer.incarnation, liveId, action: 'end' }),
      headers: { host: 'stenolog', 'content-type': 'application/json' },
    })
    sent.on('error', fail)
    sent.on('response', (response) => void readAnswer(response).catch(fail))
    sent.end(JSON.stringify({ end }))
  })
