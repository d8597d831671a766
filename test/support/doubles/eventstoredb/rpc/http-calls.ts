import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { gossipBody, infoBody, type ServingNode } from '../node.ts'
import { scavenge } from '../log/scavenge.ts'

type Answer = (response: ServerResponse) => void

const json = (body: unknown): Answer => (response) =>
  void response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body, null, 2))

/** Answers HTTP/1.1 requests. Paths below `/admin/` need the account. */
export const answerHttp = (node: ServingNode, account: string | null): RequestListener => {
  const calls: Readonly<Record<string, Answer>> = {
    'GET /gossip': (response) => json(gossipBody(node))(response),
    'GET /info': (response) => json(infoBody(node, account === null))(response),
    'GET /health/live': (response) => response.writeHead(204).end(),
    'POST /admin/scavenge': (response) =>
      void response
        .writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
        .end(`ScavengeId: ${scavenge(node.log)}`),
    'POST /admin/node/resign': (response) => {
      node.resign()
      response.writeHead(200).end()
    },
  }
  const wanted = account === null ? null : `Basic ${Buffer.from(account).toString('base64')}`
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume()
    const [path = ''] = (request.url ?? '').split('?')
    const call = calls[`${request.method} ${path}`]
    if (call === undefined) response.writeHead(404).end()
    else if (wanted !== null && path.startsWith('/admin/') && request.headers.authorization !== wanted)
      response.writeHead(401).end()
    else call(response)
  }
}
