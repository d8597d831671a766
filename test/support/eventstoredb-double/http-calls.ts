import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { SCAVENGES_METADATA, SCAVENGE_POINTS, systemEvent, type EventLog } from './event-log.ts'

/** What a node answers over HTTP/1.1, by method and path. */
export type HttpCalls = Readonly<Record<string, (response: ServerResponse) => void>>

export const answerJson = (response: ServerResponse, body: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body, null, 2))

/** Runs to its end before it answers, where the real server answers first; everything that may go goes, where a real one leaves what lies in its newest chunk. */
export const scavenge = (log: EventLog, node: string): string => {
  const scavengeId = randomUUID()
  const stream = `$scavenges-${scavengeId}`
  const write = (to: string, type: string, data: unknown): void =>
    void log.write(to, log.last(to) + 1n, [systemEvent(type, typeof data === 'string' ? data : JSON.stringify(data))])
  const about = { scavengeId, nodeEndpoint: node }
  write(`$$${stream}`, '$metadata', SCAVENGES_METADATA)
  write(stream, '$scavengeStarted', about)
  write('$scavenges', '$>', `0@${stream}`)
  write(SCAVENGE_POINTS, '$scavengePoint', { threshold: -1 })
  write(stream, '$scavengeChunksCompleted', { ...about, chunkStartNumber: 0, chunkEndNumber: 0, wasScavenged: true, spaceSaved: 0, errorMessage: '' })
  write(stream, '$scavengeCompleted', { ...about, result: 'Success', error: null, spaceSaved: 0, maxChunkScavenged: 0 })
  write('$scavenges', '$>', `2@${stream}`)
  return scavengeId
}

/** Answers the calls; others are not found, and none is answered to who does not bring the account. */
export const answerHttp = (calls: HttpCalls, account: string | null): RequestListener => {
  const wanted = account === null ? null : `Basic ${Buffer.from(account).toString('base64')}`
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume()
    const [path] = (request.url ?? '').split('?')
    const call = calls[`${request.method} ${path}`]
    if (call === undefined) response.writeHead(404).end()
    else if (wanted !== null && path?.startsWith('/admin/') === true && request.headers.authorization !== wanted) response.writeHead(401).end()
    else call(response)
  }
}
