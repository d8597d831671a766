import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { EndMessage, Passed, Peer } from '../../application/ports/peers/live-links.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pathOf } from './paths.ts'

/** An end and its answer are a few hundred bytes. */
const MAX_BODY_BYTES = 64 * 1024

export const endQuestion = t.strict({ end: t.UnknownRecord })
export const endAnswer = t.strict({ ended: t.union([t.UnknownRecord, t.null]) })

/** A body in JSON; rejects where it is longer than those are, or breaks off. */
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

/** What a process that did not open the link, or did not end the live, means by that. */
export const refusalOf = (status: number, { name }: Peer): string => {
  switch (status) {
    case 409:
      return `${name} is another incarnation by now`
    case 503:
      return `${name} stops`
    default:
      return `${name} answered ${status}`
  }
}

/** Asks the worker of a live for its end; rejects where there is no answer within `limitMs`. */
export const askForEnd = (wire: Duplex, peer: Peer, { liveId, end }: EndMessage, limitMs: number, timers: Timers): Promise<Passed | null> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      cancel()
      asking.destroy()
      reject(error)
    }
    const cancel = timers.after(limitMs, () => fail(new Error(`${peer.name} did not answer in ${limitMs} ms`)))
    const answered = async (response: IncomingMessage): Promise<void> => {
      if (response.statusCode !== 200) throw new Error(refusalOf(response.statusCode ?? 0, peer))
      const answer = endAnswer.decode(await readJson(response))
      if (E.isLeft(answer)) throw new Error(`${peer.name} answered something else`)
      cancel()
      asking.destroy()
      resolve(answer.right.ended)
    }
    const asking = request({
      createConnection: () => wire,
      method: 'POST',
      path: pathOf({ incarnation: peer.incarnation, liveId, what: 'end' }),
      headers: { host: 'stenolog', 'content-type': 'application/json' },
    })
    asking.on('error', fail)
    asking.on('response', (response) => void answered(response).catch(fail))
    asking.end(JSON.stringify({ end }))
  })
